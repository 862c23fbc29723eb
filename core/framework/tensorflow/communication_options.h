#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// CommunicationImplementation (before TensorFlow 2.4: CollectiveCommunication).
enum class Implementation : std::uint8_t { kAuto, kRing, kNccl };
/// Returns "AUTO", "RING" or "NCCL".
std::string_view to_string(Implementation implementation);
/// Returns the implementation of that name; case does not matter.
std::optional<Implementation> parse_implementation(std::string_view name);

/// tf.distribute.experimental.CommunicationOptions; CollectiveHints is its first two fields.
struct CommunicationOptions {
  std::int64_t bytes_per_pack = 0;        ///< 0: everything in one pack
  std::optional<double> timeout_seconds;  ///< nullopt: not set
  Implementation implementation = Implementation::kAuto;

  auto operator<=>(const CommunicationOptions&) const = default;
};

/// Returns the strategy's options, overridden by those that the call sets. A timeout of 0 seconds
/// removes a timeout, but 0 bytes and AUTO count as not set, and override nothing. Without call
/// options: the strategy's.
/// SOURCE: tensorflow/python/distribute/collective_util.py, Options.merge.
CommunicationOptions merge(const CommunicationOptions& strategy,
                           const std::optional<CommunicationOptions>& call);

/// Returns the duration of a collective's timers; nullopt without a timer: no timeout is set, or
/// one below a microsecond. There are two timers of this duration, one after the other
/// (docs/conditions.md). Saturates at the length of a run.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc.
std::optional<Time> timer(const CommunicationOptions& options);

/// Returns the hint for a batch of `gradients` gradients: NCCL becomes AUTO for a batch of one,
/// since a single launch cannot be ordered relative to others. SOURCE:
/// tensorflow/python/distribute/cross_device_ops.py (2.1 to 2.4).
Implementation hint_for_batch(Implementation implementation, std::int64_t gradients);

/// The implementations of collectives in TensorFlow's runtime.
enum class RuntimeCollective : std::uint8_t {
  kRingReduce,
  kNcclReduce,
  kRingGather,
  kHierarchicalTreeBroadcast
};
/// Returns the name under which the runtime registers it: "RingReduce", ….
std::string_view to_string(RuntimeCollective collective);

/// Returns the runtime's implementation; nullopt for kinds that it does not support. Gathers and
/// broadcasts have only one. A reduction uses NCCL if the session's config (`collective_nccl`) or
/// the hint requests it and it is registered for the devices; otherwise the ring. So AUTO is RING
/// unless the config says otherwise, and a hint RING does not override the config.
/// SOURCE: tensorflow/core/common_runtime/collective_param_resolver_local.cc (September 2020).
std::optional<RuntimeCollective> runtime_collective(CollectiveKind kind, bool collective_nccl,
                                                    Implementation hint, bool nccl_is_registered);

}  // namespace tutti::core
