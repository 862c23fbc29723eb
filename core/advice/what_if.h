#pragma once

#include <string>
#include <vector>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// The note for variations of a cluster's parameters if packs have NCCL's own times.
inline constexpr const char* kNcclIsMeasured =
    "NCCL's times are fitted to measurements of such machines, so other link parameters do not "
    "change them (run { nccl: RINGS } uses the links' parameters)";

/// A scenario that differs from a given one in one respect.
struct WhatIf {
  std::string what;  ///< description: "twice network.bandwidth (12.5 GB/s)", "packs start as soon
                     ///< as they are ready (launch: CONCURRENT)"
  std::string text;  ///< the scenario's text
};

/// Changes that might make `scenario` faster: each parameter of its cluster improved by a factor of
/// two, computation twice as fast, and every other choice of the strategy's launch, staging,
/// merging and update. `summary` summarises a run of the scenario. Some of the changed scenarios
/// may be invalid. `notes` lists what cannot be varied, and why.
/// ERRORS: a file that the scenario names can no longer be read.
struct WhatIfs {
  std::vector<WhatIf> list;
  std::vector<std::string> notes;
};
Expected<WhatIfs> what_ifs(const Scenario& scenario, const Summary& summary,
                           const Library& library);

/// Returns the scenario with the bandwidth or latency of all its links multiplied by `factor`, to
/// test how much its cost depends on parameters that may be wrong. ERRORS: as what_ifs().
enum class Scaled { kBandwidth, kLatency };
Expected<std::string> with_scaled_links(const Scenario& scenario, Scaled what, double factor,
                                        const Library& library);

}  // namespace tutti::core
