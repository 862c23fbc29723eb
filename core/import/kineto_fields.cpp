#include "core/import/kineto_fields.h"

#include <algorithm>

namespace tutti::core {

std::optional<std::vector<std::int64_t>> first_dims(std::string_view text) {
  // The innermost first list is between the first ']' and the last '[' before it.
  std::size_t open = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[')
      open = i;
    else if (text[i] == ']')
      break;
    else if (open == std::string_view::npos)
      return std::nullopt;
  }
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  if (inside.empty()) return std::vector<std::int64_t>();  // a scalar
  auto dims = rank_list(inside);
  if (dims.empty()) return std::nullopt;
  for (const std::int64_t side : dims) {
    if (side < 0 || side > std::int64_t{1} << 40) return std::nullopt;
  }
  return dims;
}

std::int64_t product(const std::vector<std::int64_t>& dims) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 46;
  std::int64_t elements = 1;
  for (const std::int64_t side : dims) {
    if (side > 0 && elements > kMaxElements / side) return -1;
    elements *= side;
  }
  return elements;
}

std::string_view first_type(std::string_view text) {
  if (text.starts_with('[')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of(",]"));
}

bool is_nccl_kernel(std::string_view name) {
  // RCCL runs the algorithms of MSCCL as "mscclKernel_Sum_half_Simple_false".
  return (name.starts_with("nccl") || name.starts_with("msccl")) &&
         name.find("Kernel") != std::string_view::npos;
}

void choice_of_kernel(std::string_view name, MeasuredCollective& to) {
  name = name.substr(0, name.find('('));
  const bool has_protocol = !name.starts_with("ncclKernel_");
  while (!name.empty()) {
    const std::string_view token = name.substr(0, name.find('_'));
    name.remove_prefix(std::min(name.size(), token.size() + 1));
    if (token == "RING" || token == "TREE" || token == "COLLNET" || token == "NVLS" ||
        token == "PAT") {
      to.algorithm.clear();
      for (const char c : token) to.algorithm += static_cast<char>(c - 'A' + 'a');
    } else if (has_protocol && (token == "LL" || token == "LL128" || token == "SIMPLE")) {
      to.protocol = token == "SIMPLE" ? "simple" : token == "LL" ? "ll" : "ll128";
    }
  }
}

std::string_view type_of_kernel(std::string_view name) {
  name = name.substr(0, name.find('('));
  const std::size_t sum = name.find("_Sum_");
  return sum == std::string_view::npos ? std::string_view() : name.substr(sum + 5);
}

}  // namespace tutti::core
