#pragma once

#include <string>

namespace tutti::real {

/// Returns what the user can do about a resource that the system has refused with this errno, as a
/// continuation of a message ("; raise …"); empty for other errors.
std::string remedy_for(int error);

}  // namespace tutti::real
