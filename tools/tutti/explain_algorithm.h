#pragma once

#include "tools/tutti/explain.h"

namespace tutti::tools {

/// `tutti explain --algorithm`: explains the cost of the collective of a scenario's largest pack.
/// Prints the number of rounds, the latency and the bandwidth, each with its bound for any
/// algorithm, the bytes on each link, and the causes of lost time.
int explain_algorithm(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
