#pragma once

#include <string>

namespace tutti::real {

/// Returns a continuation of an error message ("; raise …") that states what the user can do if the
/// system has refused a resource with this errno; empty for any other errno.
std::string remedy_for(int error);

}  // namespace tutti::real
