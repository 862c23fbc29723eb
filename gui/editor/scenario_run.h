#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/edit/overrides.h"
#include "core/scenario/library.h"
#include "gui/documents/backend.h"

namespace tutti::gui {

/// Runs one scenario at a time in a thread, and writes the run's timeline to a file.
class ScenarioRun : public QObject {
  Q_OBJECT

 public:
  explicit ScenarioRun(QObject* parent = nullptr) : QObject(parent) {}
  ~ScenarioRun() override { stop_and_wait(); }

  struct Order {
    Backend backend;
    std::string text;
    /// The path of the text, which error messages contain. Relative file names in the text refer to
    /// the folder of this path.
    std::string path;
    core::Library library;
    std::string timeline;                      ///< path of the timeline to write
    std::vector<core::Override> changes = {};  ///< overrides of the scenario's fields
  };
  /// Starts a run; ended() follows. REQUIRES: no run is in progress.
  void start(const Order& order);
  /// Requests that the run ends. The signal ended() follows after a short time, with the recorded
  /// part of the run.
  void stop() { cancel_ = true; }
  /// Ends the run, and waits until all its threads and processes have ended. The signal ended() is
  /// not emitted.
  void stop_and_wait();
  [[nodiscard]] bool running() const { return thread_.joinable(); }

  struct Result {
    QString timeline;  ///< path of the timeline; empty if no step ended, so that there is no file
    std::optional<core::Error> error;
    bool stopped = false;
  };

 signals:
  void progress(const QString& words, double share);
  void ended(const tutti::gui::ScenarioRun::Result& result);

 private:
  static Result run(const Order& order, const core::RunControl& control, std::atomic<bool>& cancel);

  std::atomic<bool> cancel_ = false;
  std::int64_t number_ = 0;  ///< the number of the current run, by which messages of earlier runs
                             ///< are detected and ignored
  std::jthread thread_;
};

}  // namespace tutti::gui
