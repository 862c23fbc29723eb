#pragma once

// Between the parts of the time model; nobody else includes it.

#include <cmath>

#include "core/nccl/system.h"
#include "core/nccl/time/parameters.h"

namespace tutti::core::nccl {

inline constexpr double kPerUs = 1e3;  ///< bytes per us of 1 GB/s

/// Several things that all bytes go through. Each gives `us` if it were alone; together a little more than the slowest.
class Narrowest {
 public:
  void add(double us, const char* what) {
    sum_ += std::pow(us, kKnee);
    if (us <= most_) return;
    most_ = us;
    what_ = what;
  }
  [[nodiscard]] double us() const { return std::pow(sum_, 1 / kKnee); }
  [[nodiscard]] const char* what() const { return what_; }

 private:
  static constexpr double kKnee = 4;  ///< two that are equally narrow take 19 % longer than one
  double sum_ = 0;
  double most_ = 0;
  const char* what_ = "";
};

/// Of the line rate, what arrives in a fabric of so many nodes.
inline double arriving(const System& s, int nodes, const Parameters& p) {
  return p.of(s.transport, NetFigure::kShare) * std::pow(nodes / 2.0, -p.of(s.transport, NetFigure::kCrowd));
}

}  // namespace tutti::core::nccl
