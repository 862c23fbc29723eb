#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::core {

/// The placement of variables on devices; in creation order, with ties decided in favour of the
/// first device.
enum class Placement : std::uint8_t {
  kRoundRobin,   ///< each variable on the next device in turn
  kGreedyBytes,  ///< on the device with the fewest bytes so far
  kMinElements,  ///< on the device with the fewest elements so far
  kByHash,  ///< each part by the hash of its key (core/framework/byteps/keys.h); not supported by
            ///< place()
};
std::string_view to_string(Placement placement);

/// A variable to be placed.
struct Placed {
  std::int64_t elements = 0;
  Bytes bytes;
  bool pinned = false;  ///< the variable is already placed on another device, and is skipped
};

/// Returns the device of each variable, from 0; -1 for pinned ones. Cost: `places` for each
/// variable.
/// SOURCE: tensorflow/python/training/device_setter.py, _RoundRobinStrategy;
/// tensorflow/contrib/training/device_setter.py, GreedyLoadBalancingStrategy; tensorflow/benchmarks
/// variable_mgr_util.py, ParamServerDeviceSetter.
std::vector<int> place(const std::vector<Placed>& variables, int places, Placement placement);

/// Variables that are stored on one device each, which adds up their gradients.
struct Servers {
  enum class On : std::uint8_t {
    kHosts,     ///< the CPUs of workers `first` … `first` + `count` - 1
    kReplicas,  ///< the replicas of the only worker
  };
  On on = On::kHosts;
  std::int64_t first = 0;
  int count = 1;
  Placement placement = Placement::kRoundRobin;

  /// The device of every worker through which gradients and variables are sent.
  enum class Relay : std::uint8_t {
    kNone,           ///< every replica communicates separately
    kHost,           ///< the worker's CPU
    kReplicaInTurn,  ///< replica i mod G for variable i, with G replicas in a worker
    kByLoad,  ///< the CPU for fewer than 65536 elements, otherwise the replica with the fewest
              ///< elements so far
  };
  Relay push = Relay::kNone;
  Relay pull = Relay::kNone;

  /// True: replicas read the variables when their next step begins. False: they hold copies that
  /// are updated at once.
  bool reads = true;
  /// True: the device that adds up gradients updates the variable. False: every replica updates its
  /// own copy.
  bool updates = true;
  /// Workers do not wait for each other (asynchronous training).
  bool asynchronous = false;
};

/// TensorFlow's HierarchicalCopyAllReduce.
struct HierarchicalCopy {
  /// The devices that add up pack i: device i mod n, and the corresponding one of the other half.
  enum class Topology : std::uint8_t { kDgx1, kGcpV100 };
  Topology topology = Topology::kDgx1;
  bool drops_odd = false;  ///< drops an odd device, as TensorFlow does; otherwise the device
                           ///< belongs to the second group
};

/// The two devices that add up pack `index`, and the size of the first group.
struct CopyRoots {
  int first = 0;   ///< device of the final sum
  int second = 0;  ///< device of the other group's sum
  int group = 1;   ///< devices 0 … group - 1 are the first group, regardless of which root it
                   ///< contains
};
/// Returns the roots of a pack. REQUIRES: at least 2 devices; 8 with kGcpV100.
CopyRoots copy_roots(HierarchicalCopy::Topology topology, int devices, std::int64_t index);

/// Describes servers: "on the CPUs of workers 2 to 3, greedy by bytes".
std::string describe(const Servers& servers);

}  // namespace tutti::core
