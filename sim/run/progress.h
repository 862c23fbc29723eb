#pragma once

#include <algorithm>
#include <cstdint>

#include "core/scenario/executor.h"

namespace tutti::sim {

/// Reports the progress of a simulation, and checks whether the simulation was cancelled.
class Progress {
 public:
  /// REQUIRES: `control` outlives this object.
  explicit Progress(const core::RunControl& control) : control_(control) {}

  /// Sets the approximate total work of the run.
  void expect(double work) { work_ = std::max(1.0, work); }
  /// Counts an event. Returns true if go_on() should be called: once every 65,536 events, and once
  /// the run is cancelled. In large clusters, an event takes up to 0.1 ms, so event() checks for a
  /// cancellation more often than progress is reported.
  bool event() {
    if (++events_ % 1024 != 0) return false;
    return events_ % 65'536 == 0 || is_cancel_requested();
  }
  /// Reports the progress: `done` divided by the argument of expect(). `done` is the completed
  /// work, in the same unit. Returns false if the run must stop, because it was cancelled or `now`
  /// is later than RunControl::until.
  bool go_on(core::Time now, std::int64_t done) {
    if (is_cancel_requested() || now > control_.until) cancelled_ = true;
    if (control_.progress) control_.progress(std::min(1.0, static_cast<double>(done) / work_));
    return !cancelled_;
  }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 private:
  [[nodiscard]] bool is_cancel_requested() const {
    return control_.cancel && control_.cancel->load(std::memory_order_relaxed);
  }

  const core::RunControl& control_;
  double work_ = 1;
  std::int64_t events_ = 0;
  bool cancelled_ = false;
};

}  // namespace tutti::sim
