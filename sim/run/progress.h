#pragma once

#include <algorithm>
#include <cstdint>

#include "core/scenario/executor.h"

namespace tutti::sim {

/// Tells whoever runs a simulation how far it is, and hears whether it goes on.
class Progress {
 public:
  /// REQUIRES: `control` outlives it.
  explicit Progress(const core::RunControl& control) : control_(control) {}

  /// The work that the whole run takes, about.
  void expect(double work) { work_ = std::max(1.0, work); }
  /// An event was handled; returns true now and then, when it is time to ask go_on().
  bool event() { return ++events_ % 65'536 == 0; }
  /// False: stop. `done`: work so far.
  bool go_on(core::Time now, std::int64_t done) {
    if (control_.cancel && control_.cancel->load(std::memory_order_relaxed)) cancelled_ = true;
    if (now > control_.until) cancelled_ = true;
    if (control_.progress) control_.progress(std::min(1.0, static_cast<double>(done) / work_));
    return !cancelled_;
  }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 private:
  const core::RunControl& control_;
  double work_ = 1;
  std::int64_t events_ = 0;
  bool cancelled_ = false;
};

}  // namespace tutti::sim
