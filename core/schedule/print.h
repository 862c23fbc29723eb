#pragma once

#include <functional>
#include <string>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the name that all outputs of Tutti use for a kind of step: "send",
/// "receive-reduce-send", ….
std::string_view to_string(StepKind kind);
std::string_view to_string(Engine engine);

/// Formats one step as a line:
/// `receive-reduce-send  data[4..8) ← rank 3 lane 0  → rank 1 lane 0  after lane 2 step 5`.
std::string to_string(const Step& step, Rank rank, std::int32_t ranks);

/// Prints the lanes and steps of `schedule`, rank by rank. Each rank is followed by `name(rank)`,
/// for example the name of its device ("w0/gpu1"). Cost: one visit of every step; meant for small
/// groups.
std::string print(const Schedule& schedule, const std::function<std::string(Rank)>& name);

}  // namespace tutti::core
