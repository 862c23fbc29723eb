#pragma once

#include "core/scenario/nccl_options.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Nccl;
}

namespace tutti::core {

/// Reads strategy.nccl. ERRORS (problems of `fields`, located at the fields): a release, variable,
/// value or transport is unknown; Tutti does not model a variable.
NcclOptions nccl_options_from(const proto::Nccl& message, Fields& fields, const std::string& path);

}  // namespace tutti::core
