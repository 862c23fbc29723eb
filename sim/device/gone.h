#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Returns a text that names the links that are down at the end and the workers that are lost;
/// empty if there are none.
std::string what_is_gone(const core::Scenario& scenario);

}  // namespace tutti::sim
