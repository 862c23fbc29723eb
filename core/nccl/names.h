#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/schedule/contract.h"

namespace tutti::core::nccl {

// Enumerators are in NCCL's order, because NCCL chooses the first of several candidates with equal
// times. SOURCE: NVIDIA/nccl src/include/nccl_common.h.

/// The collectives for which NCCL has a cost model.
enum class Function { kBroadcast, kReduce, kAllGather, kReduceScatter, kAllReduce };
inline constexpr std::size_t kFunctions = 5;

enum class Algorithm { kTree, kRing, kCollNetDirect, kCollNetChain, kNvls, kNvlsTree, kPat };
inline constexpr std::size_t kAlgorithms = 7;

enum class Protocol { kLl, kLl128, kSimple };
inline constexpr std::size_t kProtocols = 3;

inline constexpr std::array<std::string_view, kFunctions> kFunctionNames = {
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};
inline constexpr std::array<std::string_view, kAlgorithms> kAlgorithmNames = {
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
inline constexpr std::array<std::string_view, kProtocols> kProtocolNames = {"LL", "LL128",
                                                                            "Simple"};

constexpr std::string_view to_string(Function function) {
  return kFunctionNames[static_cast<std::size_t>(function)];
}
constexpr std::string_view to_string(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}
constexpr std::string_view to_string(Protocol protocol) {
  return kProtocolNames[static_cast<std::size_t>(protocol)];
}

/// Returns NCCL's function for a collective; nullopt for collectives that NCCL implements with
/// sends and receives (all-to-all, gather, scatter, send-receive).
constexpr std::optional<Function> function_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBroadcast: return Function::kBroadcast;
    case CollectiveKind::kReduce: return Function::kReduce;
    case CollectiveKind::kAllGather: return Function::kAllGather;
    case CollectiveKind::kReduceScatter: return Function::kReduceScatter;
    case CollectiveKind::kAllReduce: return Function::kAllReduce;
    default: return std::nullopt;
  }
}

}  // namespace tutti::core::nccl
