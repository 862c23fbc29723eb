#pragma once

#include <optional>
#include <string>

#include "core/text/fields.h"
#include "core/workload/transformer.h"

namespace tutti::proto {
class Transformer;
}

namespace tutti::core {

/// Reads workload.transformer and makes its model. Returns nullopt and reports problems if a
/// dimension is missing, if a dimension is not a multiple of another one as required (such as
/// `hidden` of `heads`), or if the model is too large.
std::optional<Model> transformer_from(const proto::Transformer& message, const std::string& name,
                                      Fields& fields);

}  // namespace tutti::core
