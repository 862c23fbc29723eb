#pragma once

#include "core/scenario/nccl_options.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Nccl;
}

namespace tutti::core {

/// Reads strategy.nccl. ERRORS (problems of `fields`, each at its field): an unknown release,
/// variable, value or transport, or a variable that scenarios cannot model.
NcclOptions nccl_options_from(const proto::Nccl& message, Fields& fields, const std::string& path);

}  // namespace tutti::core
