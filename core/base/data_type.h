#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"

namespace tutti::core {

/// The type of a tensor's elements. The values equal those of the enum in core/proto/machine.proto.
enum class DataType {
  kFloat32 = 1,
  kFloat64 = 2,
  kFloat16 = 3,
  kBfloat16 = 4,
  kInt32 = 5,
  kInt64 = 6
};

inline constexpr DataType kDataTypes[] = {DataType::kFloat32, DataType::kFloat64,
                                          DataType::kFloat16, DataType::kBfloat16,
                                          DataType::kInt32,   DataType::kInt64};

Bytes size_of(DataType type);
/// Returns the name as TensorFlow, PyTorch and NumPy write it: "float32".
std::string_view to_string(DataType type);
std::optional<DataType> parse_data_type(std::string_view name);

}  // namespace tutti::core
