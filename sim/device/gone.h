#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Returns a text that names the lost workers and the links that are down at the end of the run;
/// empty if there are no such workers and links.
std::string lost_worker_text(const core::Scenario& scenario);

}  // namespace tutti::sim
