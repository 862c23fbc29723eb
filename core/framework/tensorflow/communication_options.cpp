#include "core/framework/tensorflow/communication_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace tutti::core {
namespace {

constexpr std::array<std::pair<std::string_view, Implementation>, 3> kImplementationNames{
    {{"AUTO", Implementation::kAuto},
     {"RING", Implementation::kRing},
     {"NCCL", Implementation::kNccl}}};

}  // namespace

std::string_view to_string(Implementation implementation) {
  for (const auto& [name, known] : kImplementationNames) {
    if (known == implementation) return name;
  }
  return "";
}

std::optional<Implementation> parse_implementation(std::string_view name) {
  const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  for (const auto& [known, implementation] : kImplementationNames) {
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(), same))
      return implementation;
  }
  return std::nullopt;
}

CommunicationOptions merge(const CommunicationOptions& strategy,
                           const std::optional<CommunicationOptions>& call) {
  CommunicationOptions merged = strategy;
  if (!call) return merged;
  if (call->bytes_per_pack != 0) merged.bytes_per_pack = call->bytes_per_pack;
  if (call->timeout_seconds) merged.timeout_seconds = call->timeout_seconds;
  if (call->implementation != Implementation::kAuto) merged.implementation = call->implementation;
  return merged;
}

std::optional<Time> timer(const CommunicationOptions& options) {
  if (!options.timeout_seconds) return std::nullopt;
  const double us = std::trunc(*options.timeout_seconds * 1e6);
  if (!(us >= 1)) return std::nullopt;
  return us < to_us(kLongestDuration) ? time_from_us(us) : kLongestDuration;
}

Implementation hint_for_batch(Implementation implementation, std::int64_t gradients) {
  return implementation == Implementation::kNccl && gradients == 1 ? Implementation::kAuto
                                                                   : implementation;
}

std::string_view to_string(RuntimeCollective collective) {
  switch (collective) {
    case RuntimeCollective::kRingReduce: return "RingReduce";
    case RuntimeCollective::kNcclReduce: return "NcclReduce";
    case RuntimeCollective::kRingGather: return "RingGather";
    case RuntimeCollective::kHierarchicalTreeBroadcast: return "HierarchicalTreeBroadcast";
  }
  return "";
}

std::optional<RuntimeCollective> runtime_collective(CollectiveKind kind, bool collective_nccl,
                                                    Implementation hint, bool nccl_is_registered) {
  switch (kind) {
    case CollectiveKind::kAllGather: return RuntimeCollective::kRingGather;
    case CollectiveKind::kBroadcast: return RuntimeCollective::kHierarchicalTreeBroadcast;
    case CollectiveKind::kAllReduce:
      return (collective_nccl || hint == Implementation::kNccl) && nccl_is_registered
                 ? RuntimeCollective::kNcclReduce
                 : RuntimeCollective::kRingReduce;
    default: return std::nullopt;
  }
}

}  // namespace tutti::core
