#pragma once

#include <string>

namespace tutti::real {

/// Returns the end of an error message ("; raise …") with the remedy, if `error`, a value of errno,
/// means that the system has refused a resource. The result is empty for any other value.
std::string remedy_for(int error);

}  // namespace tutti::real
