#pragma once

#include <QWidget>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gui/documents/backend.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QToolButton;

namespace tutti::gui {

/// A bar with the choice of the backend that runs a scenario, and with the progress of the run.
/// Backends that this machine does not support are grey and show the reason. A thread checks which
/// backends can be used, since the search for GPUs takes some time.
class RunBar : public QWidget {
  Q_OBJECT

 public:
  explicit RunBar(std::vector<Backend> backends, QWidget* parent = nullptr);
  ~RunBar() override;

  /// Returns the chosen backend; null if none is chosen, or if it cannot be used (why() returns the
  /// reason).
  [[nodiscard]] const Backend* backend() const;
  [[nodiscard]] QString why() const;
  void choose(const std::string& id);
  /// Returns the reason why a backend cannot be used; "" if the backend can be used, or is not
  /// checked yet.
  [[nodiscard]] QString missing(const std::string& id) const;

  void show_title(const QString& title);
  void show_running(bool running);
  void show_progress(const QString& words, double share);
  /// Shows a text that describes how the last run ended.
  void show_words(const QString& words);
  [[nodiscard]] QString words() const;

 signals:
  void run_wanted();
  void stop_wanted();
  /// Emitted when all backends have been checked.
  void looked();

 private:
  void resizeEvent(QResizeEvent* event) override;
  void look(const std::vector<std::string>& missing);
  void elide_title();

  std::vector<Backend> backends_;
  std::vector<std::string> missing_;
  QComboBox* choice_;
  QToolButton* run_;
  QToolButton* stop_;
  QProgressBar* progress_;
  QLabel* words_;
  QLabel* title_;  ///< shows as much of title_text_ as there is space for
  QString title_text_;
  std::jthread looking_;
};

}  // namespace tutti::gui
