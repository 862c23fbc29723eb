#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// CommunicationImplementation (before TensorFlow 2.4: CollectiveCommunication).
enum class Implementation : std::uint8_t { kAuto, kRing, kNccl };
/// "AUTO", "RING", "NCCL".
std::string_view to_string(Implementation implementation);
/// The implementation of that name, in capitals or not.
std::optional<Implementation> parse_implementation(std::string_view name);

/// tf.distribute.experimental.CommunicationOptions; CollectiveHints is its first two fields.
struct CommunicationOptions {
  std::int64_t bytes_per_pack = 0;        ///< 0: everything in one pack
  std::optional<double> timeout_seconds;  ///< nothing: none was said
  Implementation implementation = Implementation::kAuto;

  auto operator<=>(const CommunicationOptions&) const = default;
};

/// What a call's options make of the strategy's: the call's value where it says one. So 0 seconds of it take a timeout back,
/// but 0 bytes and AUTO say nothing, and take nothing back. No options of the call: the strategy's.
/// SOURCE: tensorflow/python/distribute/collective_util.py, Options.merge.
CommunicationOptions merge(const CommunicationOptions& strategy, const std::optional<CommunicationOptions>& call);

/// How long the timers of a collective run; nothing if none is armed: no timeout was said, or one of less than a microsecond.
/// There are two of this length, one after the other (docs/conditions.md). Longer ones than a run can be saturate.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc.
std::optional<Time> timer(const CommunicationOptions& options);

/// The hint that a batch of so many gradients passes on: NCCL of a batch of one becomes AUTO, since a launch alone cannot be
/// put into an order with others. SOURCE: tensorflow/python/distribute/cross_device_ops.py (2.1 to 2.4).
Implementation hint_for_batch(Implementation implementation, std::int64_t gradients);

/// What TensorFlow's runtime carries a collective out by.
enum class RuntimeCollective : std::uint8_t { kRingReduce, kNcclReduce, kRingGather, kHierarchicalTreeBroadcast };
/// "RingReduce", …: the names that the runtime registers them by.
std::string_view to_string(RuntimeCollective collective);

/// Gathers and broadcasts have one implementation. A reduction is NCCL's if the session's config says so
/// (`collective_nccl`) or the hint does, and there is one for the devices; else the ring's. So AUTO is RING unless the config
/// says otherwise, and a hint RING does not help against the config. Nothing for what the runtime does not know.
/// SOURCE: tensorflow/core/common_runtime/collective_param_resolver_local.cc (September 2020).
std::optional<RuntimeCollective> runtime_collective(CollectiveKind kind, bool collective_nccl, Implementation hint,
                                                    bool nccl_is_registered);

}  // namespace tutti::core
