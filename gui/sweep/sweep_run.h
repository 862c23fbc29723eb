#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <optional>
#include <thread>

#include "gui/documents/sweep_order.h"

namespace tutti::gui {

/// Executes one sweep or search at a time, in a thread.
class SweepRun : public QObject {
  Q_OBJECT

 public:
  explicit SweepRun(QObject* parent = nullptr) : QObject(parent) {}
  ~SweepRun() override { stop_and_wait(); }

  /// Starts a sweep or search; the signal ended() follows. REQUIRES: !running().
  void start(const SweepRunner& runner, const SweepOrder& order, const core::Library& library);
  /// Requests the sweep to end; the signal ended() follows soon. Completed points remain in the
  /// file.
  void stop() { cancel_ = true; }
  /// Stops the sweep, and waits until it has ended. The signal ended() is not emitted.
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
  std::int64_t number_ = 0;  ///< the number of the current sweep, by which messages of earlier
                             ///< sweeps are detected and ignored
  std::jthread thread_;
};

}  // namespace tutti::gui
