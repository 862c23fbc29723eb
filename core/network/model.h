#pragma once

#include <optional>
#include <string_view>

namespace tutti::core {

/// The model of how messages compete for links and ports (docs/networks.md).
enum class NetworkModel { kFifo, kIdeal, kFair };

constexpr std::string_view to_string(NetworkModel model) {
  switch (model) {
    case NetworkModel::kFifo: return "fifo";
    case NetworkModel::kIdeal: return "ideal";
    case NetworkModel::kFair: return "fair";
  }
  return "";
}

/// Returns the model with this name; nullopt if there is none.
constexpr std::optional<NetworkModel> parse_network_model(std::string_view name) {
  for (const NetworkModel model :
       {NetworkModel::kFifo, NetworkModel::kIdeal, NetworkModel::kFair}) {
    if (to_string(model) == name) return model;
  }
  return std::nullopt;
}

}  // namespace tutti::core
