#pragma once

#include <vector>

#include "core/base/units.h"

namespace tutti::test {

/// A flow over shared links, for comparing algorithms that compute the ends of flows.
struct FairFlow {
  std::vector<int> links;
  core::Bandwidth cap;  ///< maximum rate; 0: no limit
  core::Bytes bytes;
  core::Time start;
};
struct FairFlows {
  std::vector<core::Bandwidth> links;
  std::vector<FairFlow> flows;
};

/// Returns flows from every worker to every server, over different links and with staggered starts.
/// Worker i has a link of 0.5 GB/s if i mod 4 = 0, and of 25 GB/s otherwise. Server j has a link of
/// 25 (1 + j mod 4) / 4 GB/s. Flow (i, j) has index i · servers + j and (1 + (8i + j) mod 7) · 4
/// MiB, and starts at i · 100 µs. There are no latencies.
/// SOURCE: the flows for which SimGrid 3.32 was measured (docs/validation.md).
FairFlows heterogeneous_push(int workers, int servers);

/// Returns the end of each flow, computed by sim::FairShare.
std::vector<core::Time> ends_by_fair_share(const FairFlows& flows);

}  // namespace tutti::test
