#pragma once

// Converts between errors and the message by which the coordinator and its workers report a failure
// of the run to each other.

#include "core/base/error.h"

namespace tutti::proto {
class Failure;
}

namespace tutti::real {

/// Returns the kind of the error's first problem: a code, and the worker at fault.
const core::ProblemKind& kind_of(const core::Error& error);

void write_failure(const core::Error& error, proto::Failure& failure);

/// Returns the error that a Failure message from the other end of the connection reports. An
/// unknown code becomes `invalid`. A negative worker means that no worker is at fault. The error's
/// text is converted by peer_text(), so that it is safe to print.
core::Error error_of(const proto::Failure& failure);

}  // namespace tutti::real
