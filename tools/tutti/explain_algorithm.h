#pragma once

#include "tools/tutti/explain.h"

namespace tutti::tools {

/// `tutti explain --algorithm`: what the collective of a scenario's largest pack costs: its rounds,
/// the bytes on links, how far it is from the least latency and from the bound of the fabric's
/// cuts, and where it loses time.
int explain_algorithm(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
