#pragma once

#include <string>

namespace tutti::real {

/// Returns the remedy if `error`, a value of errno, means that the system has refused a resource.
/// The result is the end of an error message, such as "; raise the limit of …". For any other value
/// of `error`, the result is empty.
std::string remedy_for(int error);

}  // namespace tutti::real
