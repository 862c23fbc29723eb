#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <optional>
#include <thread>

#include "gui/documents/sweep_order.h"

namespace tutti::gui {

/// Runs one sweep or search at a time in a thread.
class SweepRun : public QObject {
  Q_OBJECT

 public:
  explicit SweepRun(QObject* parent = nullptr) : QObject(parent) {}
  ~SweepRun() override { stop_and_wait(); }

  /// Starts; ended() follows. REQUIRES: none is running.
  void start(const SweepRunner& runner, const SweepOrder& order, const core::Library& library);
  /// Asks it to end; ended() follows soon. Completed points are in the file.
  void stop() { cancel_ = true; }
  /// Stops it and waits until it has ended; ended() does not follow.
  void stop_and_wait();
  [[nodiscard]] bool running() const { return thread_.joinable(); }

  struct Result {
    std::optional<core::Error> error;
    bool all = false;  ///< true: all points are done; false: the sweep was stopped, or failed
  };

 signals:
  void begun(const QString& file);
  void progress(const QString& words, double share);
  void ended(const tutti::gui::SweepRun::Result& result);

 private:
  std::atomic<bool> cancel_ = false;
  std::int64_t number_ = 0;  ///< number of the run; messages of earlier runs are ignored
  std::jthread thread_;
};

}  // namespace tutti::gui
