#pragma once

#include <optional>

#include "core/text/fields.h"
#include "core/workload/transformer.h"

namespace tutti::proto {
class Transformer;
}

namespace tutti::core {

/// Reads workload.transformer. Returns nullopt and reports problems if a dimension is missing, or
/// if dimensions cannot be divided as they must be.
std::optional<TransformerShape> transformer_from(const proto::Transformer& message, Fields& fields);

}  // namespace tutti::core
