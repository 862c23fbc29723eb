#pragma once

// The message in which the coordinator and its workers report a failure of a run to each other.

#include "core/base/error.h"

namespace tutti::proto {
class Failure;
}

namespace tutti::real {

/// Returns the kind of an error's first problem: its code, and the worker at fault.
const core::ProblemKind& kind_of(const core::Error& error);

void write_failure(const core::Error& error, proto::Failure& failure);

/// Reads the other side's failure. A code that this side does not know counts as `invalid`, a
/// worker below 0 as none; the text is made safe to print (peer_text()).
core::Error error_of(const proto::Failure& failure);

}  // namespace tutti::real
