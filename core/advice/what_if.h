#pragma once

#include <string>
#include <vector>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// The note that is shown next to variations of link parameters, if the times of packs are
/// predicted by the time model of NCCL, which does not use these parameters.
inline constexpr const char* kNcclIsMeasured =
    "NCCL's times are predicted from measurements of similar machines, so other link parameters do "
    "not change NCCL's times; to use the parameters of the links, set run { nccl: RINGS }";

/// A variation of a scenario, which differs from the scenario in one respect.
struct WhatIf {
  std::string what;  ///< description: "twice network.bandwidth: 12.5 → 25 GB/s"
  std::string text;  ///< the scenario's text
};

/// Variations of a scenario that might be faster.
struct WhatIfs {
  std::vector<WhatIf> list;
  std::vector<std::string> notes;  ///< one note for each parameter that cannot be varied, with the
                                   ///< reason
};
/// Returns variations of a scenario that might be faster. A variation changes one thing: a
/// parameter of the cluster is twice as good; computation is twice as fast; the strategy has
/// another launch mode (serial or concurrent), staging, update or compression; there is no host
/// overhead; or there is no interference. Some variations may be invalid scenarios. `summary` is
/// the summary of a run of the scenario.
/// ERRORS: a file that the scenario names cannot be read.
Expected<WhatIfs> what_ifs(const Scenario& scenario, const Summary& summary,
                           const Library& library);

enum class Scaled { kBandwidth, kLatency };
/// Returns the scenario's text with the bandwidth or the latency of all links multiplied by
/// `factor`. This function is used to test how much a prediction depends on uncertain parameters.
/// ERRORS: as for what_ifs().
Expected<std::string> with_scaled_links(const Scenario& scenario, Scaled what, double factor,
                                        const Library& library);

}  // namespace tutti::core
