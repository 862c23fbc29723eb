#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/synthesis/synthesis.h"
#include "tools/tutti/synthesis/subject.h"

namespace tutti::tools {

/// A synthesized schedule with its simulated time.
struct RankedSchedule {
  core::synthesis::Candidate candidate;
  std::int64_t pieces = 1;  ///< for trees and sums in switches: the number of pieces into which a
                            ///< chunk is divided, so that links work in parallel
  core::Time time;
  bool proved = false;
};

/// Simulates a candidate, and chooses its number of pieces. The search starts with a guess, and
/// doubles or halves the number of pieces while the time decreases. `bound`: the lower bound of the
/// collective's time. Returns nullopt if the simulation was stopped before a time was known.
/// ERRORS: those of the simulation.
core::Expected<std::optional<RankedSchedule>> rank(const SynthesisSubject& subject,
                                                   core::synthesis::Candidate candidate,
                                                   core::Time bound,
                                                   const core::RunControl& control);

struct RankedBuiltIn {
  std::string algorithm;
  core::Time time;
};

/// Simulates the built-in algorithms that support the collective on the cluster. Returns the
/// fastest first. NCCL is simulated as rings, message by message, so that all algorithms use the
/// same model of links.
std::vector<RankedBuiltIn> rank_built_in(const SynthesisSubject& subject,
                                         const core::RunControl& control);

}  // namespace tutti::tools
