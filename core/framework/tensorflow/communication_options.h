#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// TensorFlow's CommunicationImplementation (CollectiveCommunication before 2.4).
enum class Implementation : std::uint8_t { kAuto, kRing, kNccl };
/// Returns "AUTO", "RING" or "NCCL".
std::string_view to_string(Implementation implementation);
/// Returns the implementation with this name, in upper or lower case.
std::optional<Implementation> parse_implementation(std::string_view name);

/// The fields of tf.distribute.experimental.CommunicationOptions. The older class CollectiveHints
/// has only `bytes_per_pack` and `timeout_seconds`.
struct CommunicationOptions {
  std::int64_t bytes_per_pack = 0;        ///< pack size in bytes; 0: all gradients in one pack
  std::optional<double> timeout_seconds;  ///< timeout in seconds; nullopt: not set
  Implementation implementation = Implementation::kAuto;

  auto operator<=>(const CommunicationOptions&) const = default;
};

/// Returns the options of the strategy, overridden by the options of a call. A call with
/// bytes_per_pack 0 or implementation AUTO does not override the strategy's option, but a timeout
/// of 0 seconds removes the strategy's timeout. SOURCE:
/// tensorflow/python/distribute/collective_util.py, Options.merge.
CommunicationOptions merge(const CommunicationOptions& strategy,
                           const std::optional<CommunicationOptions>& call);

/// Returns the duration of the timers of a collective; nullopt if there is no timer, because the
/// timeout is not set or is below a microsecond. A collective has two timers of this duration, one
/// after the other (docs/conditions.md). The result saturates at kLongestDuration.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc.
std::optional<Time> timer(const CommunicationOptions& options);

/// Returns the implementation hint for a batch of `gradients` gradients. For a batch of one
/// gradient, TensorFlow replaces NCCL by AUTO, because TensorFlow cannot order a single launch
/// relative to other launches.
/// SOURCE: tensorflow/python/distribute/cross_device_ops.py (2.1 to 2.4).
Implementation hint_for_batch(Implementation implementation, std::int64_t gradients);

/// The implementations of collectives in TensorFlow's runtime.
enum class RuntimeCollective : std::uint8_t {
  kRingReduce,
  kNcclReduce,
  kRingGather,
  kHierarchicalTreeBroadcast
};
/// Returns the name under which TensorFlow's runtime registers the implementation: "RingReduce", ….
std::string_view to_string(RuntimeCollective collective);

/// Returns the implementation that TensorFlow's runtime uses for a collective; nullopt for kinds of
/// collectives that the runtime does not support. All-gathers and broadcasts have a single
/// implementation. An all-reduce uses NCCL if NCCL is registered for the devices, and the session's
/// config (`collective_nccl`) or the hint requests it; otherwise it uses the ring. AUTO therefore
/// means the ring unless the config requests NCCL. The hint RING does not override the config.
/// SOURCE: tensorflow/core/common_runtime/collective_param_resolver_local.cc (September 2020).
std::optional<RuntimeCollective> runtime_collective(CollectiveKind kind, bool collective_nccl,
                                                    Implementation hint, bool nccl_is_registered);

}  // namespace tutti::core
