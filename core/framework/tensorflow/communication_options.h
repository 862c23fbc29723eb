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
/// Returns the implementation with this name; upper and lower case are not distinguished.
std::optional<Implementation> parse_implementation(std::string_view name);

/// The fields of tf.distribute.experimental.CommunicationOptions. The older CollectiveHints has
/// only the fields `bytes_per_pack` and `timeout_seconds`.
struct CommunicationOptions {
  std::int64_t bytes_per_pack = 0;        ///< pack size in bytes; 0: all gradients in one pack
  std::optional<double> timeout_seconds;  ///< timeout of a collective in seconds; nullopt: no
                                          ///< timeout
  Implementation implementation = Implementation::kAuto;

  auto operator<=>(const CommunicationOptions&) const = default;
};

/// Returns the options that apply to a call: those of the strategy, overridden by those of the
/// call. bytes_per_pack 0 and implementation AUTO in the call mean that the call does not set the
/// option. A timeout of 0 seconds in the call removes the strategy's timeout. SOURCE:
/// tensorflow/python/distribute/collective_util.py, Options.merge.
CommunicationOptions merge(const CommunicationOptions& strategy,
                           const std::optional<CommunicationOptions>& call);

/// Returns the duration of a collective's timers. Returns nullopt if there are no timers, because
/// the timeout is not set or is shorter than a microsecond. A collective has two timers of this
/// duration, which run one after the other (docs/conditions.md). The result saturates at
/// kLongestDuration.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc.
std::optional<Time> timer(const CommunicationOptions& options);

/// Returns the implementation hint that TensorFlow passes to its runtime for `gradients` gradients
/// that are reduced together. For a single gradient, TensorFlow replaces NCCL by AUTO, because
/// TensorFlow cannot order the launch of this gradient's collective relative to other launches.
/// SOURCE: tensorflow/python/distribute/cross_device_ops.py (2.1 to 2.4).
Implementation hint_for_batch(Implementation implementation, std::int64_t gradients);

/// The implementations of collectives that TensorFlow's runtime has.
enum class RuntimeCollective : std::uint8_t {
  kRingReduce,
  kNcclReduce,
  kRingGather,
  kHierarchicalTreeBroadcast
};
/// Returns the implementation's name in TensorFlow's runtime, such as "RingReduce".
std::string_view to_string(RuntimeCollective collective);

/// Returns the implementation that TensorFlow's runtime uses for a kind of collective; nullopt if
/// the runtime does not support this kind. All-gathers and broadcasts have only one implementation.
/// An all-reduce uses NCCL if two conditions hold: NCCL is registered for the devices, and the
/// session's config (`collective_nccl`) or the hint requests NCCL. If one condition does not hold,
/// the all-reduce uses the ring. AUTO therefore means the ring, unless the config requests NCCL.
/// The hint RING cannot override the config.
/// SOURCE: tensorflow/core/common_runtime/collective_param_resolver_local.cc (September 2020).
std::optional<RuntimeCollective> runtime_collective(CollectiveKind kind, bool collective_nccl,
                                                    Implementation hint, bool nccl_is_registered);

}  // namespace tutti::core
