#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/synthesis/synthesis.h"
#include "tools/tutti/synthesis/subject.h"

namespace tutti::tools {

/// A schedule that was found, with its simulated time.
struct RankedSchedule {
  core::synthesis::Candidate candidate;
  std::int64_t pieces = 1;  ///< for a forest: number of pieces of every chunk
  core::Time time;
  bool proved = false;
};

/// Chooses the number of pieces by simulation: from a guess up and down by powers of two, while the
/// time falls. `bound`: the least time of the collective. nullopt if it was stopped before a time
/// was known. ERRORS: those of the simulation.
core::Expected<std::optional<RankedSchedule>> rank(const SynthesisSubject& subject,
                                                   core::synthesis::Candidate candidate,
                                                   core::Time bound,
                                                   const core::RunControl& control);

struct RankedBuiltIn {
  std::string algorithm;
  core::Time time;
};

/// Simulates the built-in algorithms that can do the collective on the cluster; the fastest first.
/// NCCL's is simulated as its rings, message by message, so that all use the same links.
std::vector<RankedBuiltIn> rank_built_in(const SynthesisSubject& subject,
                                         const core::RunControl& control);

}  // namespace tutti::tools
