#pragma once

#include <vector>

#include "core/base/units.h"

namespace tutti::test {

/// Flows over links that they share, for comparing ways to find out when they end.
struct FairFlow {
  std::vector<int> links;
  core::Bandwidth cap;  ///< 0: none
  core::Bytes bytes;
  core::Time start;
};
struct FairFlows {
  std::vector<core::Bandwidth> links;
  std::vector<FairFlow> flows;
};

/// Every worker pushes to every server, all links unlike, starts staggered: worker i has a link of
/// 0.5 GB/s if i mod 4 = 0 and 25 GB/s otherwise, server j one of 25 (1 + j mod 4) / 4 GB/s; flow
/// (i, j) has (1 + (8i + j) mod 7) · 4 MiB and starts at i · 100 us. Flow i · servers + j;
/// latencies are none. SOURCE: the push on which SimGrid 3.32 was measured (docs/validation.md).
FairFlows heterogeneous_push(int workers, int servers);

/// When each flow ends, by sim::FairShare.
std::vector<core::Time> ends_by_fair_share(const FairFlows& flows);

}  // namespace tutti::test
