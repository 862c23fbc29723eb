#pragma once

#include <QImage>
#include <QWidget>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/scenario/library.h"
#include "gui/documents/examples.h"
#include "gui/paint/theme.h"
#include "gui/trace/miniature.h"
#include "gui/widgets/background_task.h"

namespace tutti::gui {

/// A small picture of an example's timeline. Until the example has been simulated, the picture is
/// an empty frame. If the simulation failed, the picture states the reason.
class ExamplePicture : public QWidget {
  Q_OBJECT

 public:
  explicit ExamplePicture(QWidget* parent = nullptr);

  void show_miniature(const core::Expected<Miniature>& miniature);
  void set_theme(const Theme& theme);
  /// Returns the picture as it is painted; null until the example has been simulated.
  [[nodiscard]] const QImage& image() const { return image_; }
  /// Returns the reason why the simulation failed; empty if it has not failed.
  [[nodiscard]] const QString& problem() const { return problem_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme* theme_;
  std::optional<Miniature> miniature_;
  QString problem_;
  QImage image_;  ///< the painted miniature; null: to be painted again
};

/// Simulates examples one after another in a thread, and passes a miniature of each run to `take`.
/// The miniatures are not stored pictures, so they always show the same timeline as a simulation of
/// the example.
class ExampleSimulations : public QObject {
  Q_OBJECT

 public:
  /// Returns an executor that simulates; called in the thread.
  using MakeExecutor = std::function<std::unique_ptr<core::Executor>()>;
  /// Called with the index of each example and its miniature.
  using Take = std::function<void(std::size_t example, const core::Expected<Miniature>& made)>;
  /// Returns true if the picture of this example is in view.
  using IsInView = std::function<bool(std::size_t example)>;

  ExampleSimulations(std::vector<Example> examples, core::Library library, MakeExecutor make,
                     IsInView is_in_view, Take take);

  /// Starts to simulate the examples in view that have not been simulated yet, one after another.
  /// Does nothing while an example is being simulated.
  void start();
  /// Ends the current simulation without waiting for its thread. The example then
  /// counts as not simulated.
  void stop() { task_.drop(); }
  /// Simulates all examples that have not been simulated yet, also those that are not in view.
  void finish();

 private:
  void begin(std::size_t example);

  std::vector<Example> examples_;
  core::Library library_;
  MakeExecutor make_;
  IsInView is_in_view_;
  Take take_;
  std::vector<bool> done_;   ///< by example: true if it has been simulated
  std::size_t current_ = 0;  ///< the example that is being simulated
  BackgroundTask<Miniature> task_;
};

}  // namespace tutti::gui
