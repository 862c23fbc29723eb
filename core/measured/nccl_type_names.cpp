#include "core/measured/nccl_tests.h"

namespace tutti::core {
namespace {

struct NcclType {
  std::string_view name;
  DataType type;
};
/// The names of types. If a type has several names, nccl-tests prints the first.
constexpr NcclType kNcclTypes[] = {
    {"float", DataType::kFloat32},     {"double", DataType::kFloat64}, {"half", DataType::kFloat16},
    {"bfloat16", DataType::kBfloat16}, {"int32", DataType::kInt32},    {"int64", DataType::kInt64},
    {"int", DataType::kInt32},         {"uint32", DataType::kInt32},   {"uint64", DataType::kInt64},
    {"fp32", DataType::kFloat32},      {"fp64", DataType::kFloat64},   {"fp16", DataType::kFloat16},
    {"bf16", DataType::kBfloat16},
};

}  // namespace

std::optional<DataType> data_type_of_nccl_name(std::string_view name) {
  for (const NcclType& known : kNcclTypes) {
    if (known.name == name) return known.type;
  }
  return std::nullopt;
}

std::optional<DataType> modelled_type(NcclTestsRow& row, CollectiveKind kind) {
  if (const auto type = data_type_of_nccl_name(row.type)) return type;
  if (reduces(kind)) return std::nullopt;
  for (const auto& [name, bytes] : {std::pair("float", 4), std::pair("half", 2)}) {
    if (row.elements % bytes != 0) continue;
    row.type = name;
    row.elements /= bytes;
    return data_type_of_nccl_name(name);
  }
  return std::nullopt;
}

std::string_view nccl_name(DataType type) {
  for (const NcclType& known : kNcclTypes) {
    if (known.type == type) return known.name;
  }
  return "";
}

}  // namespace tutti::core
