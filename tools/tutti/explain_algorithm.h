#pragma once

#include "tools/tutti/explain.h"

namespace tutti::tools {

/// `tutti explain --algorithm`: explains the cost of the collective of a scenario's largest pack.
/// Prints the rounds, the bytes on links, the ratios to the minimum latency and to the bandwidth
/// bound of the fabric's cuts, and the causes of lost time.
int explain_algorithm(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
