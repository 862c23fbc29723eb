#pragma once

#include <cstdint>
#include <string>

#include "core/base/data_type.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// The text of a scenario on the same cluster and with the same algorithm, but with a single gradient of `elements`
/// elements, nothing to compute, no packing, this reduction, and `steps` steps: one collective by itself, so often.
/// REQUIRES: `text` is a scenario without problems; `path` is its file.
std::string with_one_buffer(const std::string& text, const std::string& path, DataType type, std::int64_t elements,
                            std::int32_t steps, Reduction reduction = Reduction::kSum);

}  // namespace tutti::core
