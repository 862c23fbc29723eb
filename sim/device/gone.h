#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Returns a text that names the workers that are lost and the links that are down at the end of
/// the run; empty if there are none.
std::string lost_worker_text(const core::Scenario& scenario);

}  // namespace tutti::sim
