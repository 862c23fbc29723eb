#include "core/cluster/transport.h"

#include <algorithm>
#include <array>

namespace tutti::core {
namespace {

/// The names, indexed by enumerator.
constexpr std::array<std::string_view, 13> kNames{
    "none",  "infiniband", "roce",   "efa",    "efa_without_rdma", "slingshot", "tcpx",
    "tcpxo", "tcp",        "efa_v1", "efa_v2", "efa_v3",           "efa_v4"};

std::string in_capitals(std::string_view name) {
  std::string capitals(name);
  std::transform(name.begin(), name.end(), capitals.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return capitals;
}

}  // namespace

std::string_view to_string(Transport transport) {
  return kNames[static_cast<std::size_t>(transport)];
}

std::optional<Transport> parse_transport(std::string_view name) {
  const auto* const found = std::find(kNames.begin() + 1, kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Transport>(found - kNames.begin());
}

std::string name_in_files(Transport transport) { return in_capitals(to_string(transport)); }

std::string transport_names() {
  std::string all;
  for (std::size_t t = 1; t < kNames.size(); ++t) all.append(t == 1 ? "" : ", ").append(kNames[t]);
  return all;
}

std::string transport_names_in_files() { return in_capitals(transport_names()); }

}  // namespace tutti::core
