#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"

namespace tutti::core {

/// The type of a tensor's elements. The values equal those of the enum `DataType` in
/// core/proto/machine.proto.
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

/// The precision in which layers are computed. The values equal those of the enum `Flops.Precision`
/// in core/proto/machine.proto; the values that are also in DataType have the same numbers there.
enum class Precision {
  kFloat32 = 1,
  kFloat64 = 2,
  kFloat16 = 3,
  kBfloat16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kTf32 = 7,   ///< products of float32 on tensor cores, with 10 bits of mantissa
  kFloat8 = 8  ///< products of 8 bits on tensor cores; activations have 16 bits
};

/// Returns the precision of layers that compute in the type of their tensors.
inline Precision precision_of(DataType type) {
  return static_cast<Precision>(static_cast<int>(type));
}
/// Returns the size of one element of the activations of layers that are computed in this
/// precision. With TF32, activations are float32; with FLOAT8, activations have 16 bits.
Bytes activation_size(Precision precision);
/// Returns the name: "float32", "tf32".
std::string_view to_string(Precision precision);

}  // namespace tutti::core
