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

/// Runs one scenario at a time in a thread, and writes a timeline file.
class ScenarioRun : public QObject {
  Q_OBJECT

 public:
  explicit ScenarioRun(QObject* parent = nullptr) : QObject(parent) {}
  ~ScenarioRun() override { stop_and_wait(); }

  struct Order {
    Backend backend;
    std::string text;
    /// Path of the text in error messages; relative file names in the text refer to its folder.
    std::string path;
    core::Library library;
    std::string timeline;                      ///< path of the timeline to write
    std::vector<core::Override> changes = {};  ///< overrides of fields of the text
  };
  /// Starts a run; ended() follows. REQUIRES: none is running.
  void start(const Order& order);
  /// Asks the run to end; ended() follows soon, with the part of the run that was recorded.
  void stop() { cancel_ = true; }
  /// Ends the run and waits until no thread and no process of it is left. ended() does not follow.
  void stop_and_wait();
  [[nodiscard]] bool running() const { return thread_.joinable(); }

  struct Result {
    QString timeline;  ///< path of the timeline; empty: no step ended, so there is no file
    std::optional<core::Error> error;
    bool stopped = false;
  };

 signals:
  void progress(const QString& words, double share);
  void ended(const tutti::gui::ScenarioRun::Result& result);

 private:
  static Result run(const Order& order, const core::RunControl& control, std::atomic<bool>& cancel);

  std::atomic<bool> cancel_ = false;
  std::int64_t number_ = 0;  ///< number of the run; messages of earlier runs are ignored
  std::jthread thread_;
};

}  // namespace tutti::gui
