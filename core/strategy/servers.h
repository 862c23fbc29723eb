#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::core {

/// Which of several places a variable is put on; in creation order, ties go to the first.
enum class Placement : std::uint8_t {
  kRoundRobin,     ///< one after the other
  kGreedyBytes,    ///< where the fewest bytes lie so far
  kLeastElements,  ///< where the fewest elements lie so far
  kByHash,         ///< part by part, where the hash of its key says (core/framework/byteps/keys.h); place() does not
};
std::string_view to_string(Placement placement);

/// Something that is put somewhere.
struct Placed {
  std::int64_t elements = 0;
  Bytes bytes;
  bool pinned = false;  ///< it lies elsewhere already, and takes no turn
};

/// The place of each, from 0 on; -1 of what is pinned. Cost: places for each.
/// SOURCE: tensorflow/python/training/device_setter.py, _RoundRobinStrategy; tensorflow/contrib/training/device_setter.py,
/// GreedyLoadBalancingStrategy; tensorflow/benchmarks variable_mgr_util.py, ParamServerDeviceSetter.
std::vector<int> place(const std::vector<Placed>& variables, int places, Placement placement);

/// Variables lie on one device each, which adds up their gradients.
struct Servers {
  enum class On : std::uint8_t {
    kHosts,     ///< the CPUs of workers `first` … `first` + `count` - 1
    kReplicas,  ///< the replicas of the only worker
  };
  On on = On::kHosts;
  std::int64_t first = 0;
  int count = 1;
  Placement placement = Placement::kRoundRobin;

  /// By which device of every worker gradients and variables go.
  enum class Relay : std::uint8_t {
    kNone,           ///< every replica for itself
    kHost,           ///< its CPU
    kReplicaInTurn,  ///< replica i mod G for variable i
    kByLoad,         ///< its CPU for fewer than 65536 elements, else the replica that has the fewest elements so far
  };
  Relay push = Relay::kNone;
  Relay pull = Relay::kNone;

  /// Replicas read the variables when their next step begins; else they hold copies, which are brought up to date at once.
  bool reads = true;
  /// The device that adds up gradients updates the variable; else every replica its own.
  bool updates = true;
  /// Workers do not wait for each other.
  bool asynchronous = false;
};

/// TensorFlow's HierarchicalCopyAllReduce.
struct HierarchicalCopy {
  /// Pack i is added up on device i mod n, and on the one as far into the other half.
  enum class Topology : std::uint8_t { kDgx1, kGcpV100 };
  Topology topology = Topology::kDgx1;
  bool drops_odd = false;  ///< as TensorFlow does; else an odd device is one more in the second group
};

/// The two devices that add up pack `index`, and how many devices are in the first group.
struct CopyRoots {
  int first = 0;   ///< where everything is added up
  int second = 0;  ///< the other group's
  int group = 1;   ///< devices 0 … group - 1 are the first group, whichever root that has
};
/// REQUIRES: at least 2 devices; 8 of kGcpV100.
CopyRoots copy_roots(HierarchicalCopy::Topology topology, int devices, std::int64_t index);

/// "on the CPUs of workers 2 to 3, greedy by bytes"
std::string describe(const Servers& servers);

}  // namespace tutti::core
