#include "core/base/data_type.h"

#include <array>

#include "core/base/check.h"

namespace tutti::core {
namespace {

struct Entry {
  DataType type;
  std::string_view name;
  int bytes;
};
constexpr std::array<Entry, 6> kTypes{{{DataType::kFloat32, "float32", 4},
                                       {DataType::kFloat64, "float64", 8},
                                       {DataType::kFloat16, "float16", 2},
                                       {DataType::kBfloat16, "bfloat16", 2},
                                       {DataType::kInt32, "int32", 4},
                                       {DataType::kInt64, "int64", 8}}};

const Entry& entry(DataType type) {
  for (const Entry& e : kTypes) {
    if (e.type == type) return e;
  }
  TUTTI_CHECK(false, "no data type {}", static_cast<int>(type));
  __builtin_unreachable();
}

struct PrecisionEntry {
  Precision precision;
  std::string_view name;
  int activation_bytes;
};
constexpr std::array<PrecisionEntry, 8> kPrecisions{{{Precision::kFloat32, "float32", 4},
                                                     {Precision::kFloat64, "float64", 8},
                                                     {Precision::kFloat16, "float16", 2},
                                                     {Precision::kBfloat16, "bfloat16", 2},
                                                     {Precision::kInt32, "int32", 4},
                                                     {Precision::kInt64, "int64", 8},
                                                     {Precision::kTf32, "tf32", 4},
                                                     {Precision::kFloat8, "float8", 2}}};

const PrecisionEntry& entry(Precision precision) {
  for (const PrecisionEntry& e : kPrecisions) {
    if (e.precision == precision) return e;
  }
  TUTTI_CHECK(false, "no precision {}", static_cast<int>(precision));
  __builtin_unreachable();
}

}  // namespace

Bytes size_of(DataType type) { return Bytes(entry(type).bytes); }

std::string_view to_string(DataType type) { return entry(type).name; }

std::optional<DataType> parse_data_type(std::string_view name) {
  for (const Entry& e : kTypes) {
    if (e.name == name) return e.type;
  }
  return std::nullopt;
}

Bytes activation_size(Precision precision) { return Bytes(entry(precision).activation_bytes); }

std::string_view to_string(Precision precision) { return entry(precision).name; }

}  // namespace tutti::core
