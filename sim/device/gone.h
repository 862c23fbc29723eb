#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

/// The links that are dead in the end and the workers that are gone, in words; empty if there are none.
std::string what_is_gone(const core::Scenario& scenario);

}  // namespace tutti::sim
