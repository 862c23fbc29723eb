#pragma once

// Between the parts of the time model; nobody else includes it.

#include <algorithm>
#include <cmath>

#include "core/nccl/system.h"
#include "core/nccl/time/parameters.h"

namespace tutti::core::nccl {

inline constexpr double kPerUs = 1e3;  ///< bytes per us of 1 GB/s

/// Several things that all bytes go through. Each gives `us` if it were alone; together a little more than the slowest.
class Narrowest {
 public:
  void add(double us, const char* what) {
    sum_ += us * us * us * us;
    if (us <= most_) return;
    most_ = us;
    what_ = what;
  }
  [[nodiscard]] double us() const { return std::sqrt(std::sqrt(sum_)); }
  [[nodiscard]] const char* what() const { return what_; }

 private:
  double sum_ = 0;  ///< of fourth powers: two that are equally narrow take 19 % longer than one
  double most_ = 0;
  const char* what_ = "";
};

/// GPUs that a process drives where nobody says. On several nodes every GPU has its own; on one, tables of up to four GPUs are of one process for all, of eight some
/// are and some are not.
inline int driven(const Communicator& comm) { return comm.nodes > 1 ? 1 : std::min(comm.ranks, 4); }

/// us that the host adds to a kernel of so many us. nccl-tests calls again before the kernel has ended: of what the CPU takes to issue the operation for all of its
/// GPUs and what the kernel takes, the longer counts.
inline double waiting_for_host(const Communicator& comm, double kernel_us, const Parameters& p) {
  const double issue = p.issue(comm.version) * driven(comm);
  Narrowest slower;
  slower.add(issue, "");
  slower.add(kernel_us, "");
  return slower.us() - kernel_us;
}

/// Longer messages are not sent before the receiver has said where they go. SOURCE: FI_CXI_RDZV_THRESHOLD, fi_cxi(7); others have the like.
inline constexpr double kLongMessage = 16384;

/// Of the line rate, what arrives in a fabric of so many nodes.
inline double arriving(const System& s, int nodes, const Parameters& p) {
  return p.of(s.transport, NetFigure::kShare) * std::pow(nodes / 2.0, -p.of(s.transport, NetFigure::kCrowd));
}

}  // namespace tutti::core::nccl
