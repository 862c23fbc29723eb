#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::core {

/// The rule by which variables are assigned to devices. Variables are assigned in the order of
/// their creation. If several devices fit a rule equally well, the first of them is used.
enum class Placement : std::uint8_t {
  kRoundRobin,   ///< each variable goes to the next device, cyclically
  kGreedyBytes,  ///< each variable goes to the device with the fewest bytes so far
  kMinElements,  ///< each variable goes to the device with the fewest elements so far
  kByHash,       ///< the hash of a partition's key selects the device
                 ///< (core/framework/byteps/keys.h); place() does not support this rule
};
std::string_view to_string(Placement placement);

/// A variable to be placed.
struct Placed {
  std::int64_t elements = 0;
  Bytes bytes;
  /// True if the variable is already assigned to a device by other means, so that place() skips it.
  bool pinned = false;
};

/// Returns the index of each variable's device; -1 for pinned variables. `places` is the number of
/// devices. Cost: proportional to the number of variables times the number of devices.
/// SOURCE: tensorflow/python/training/device_setter.py, _RoundRobinStrategy;
/// tensorflow/contrib/training/device_setter.py, GreedyLoadBalancingStrategy; tensorflow/benchmarks
/// variable_mgr_util.py, ParamServerDeviceSetter.
std::vector<int> place(const std::vector<Placed>& variables, int places, Placement placement);

/// The servers: devices that store variables. Each variable is on one server, which also sums the
/// variable's gradients.
struct Servers {
  enum class On : std::uint8_t {
    kHosts,     ///< CPUs of the workers `first` … `first` + `count` - 1
    kReplicas,  ///< the replicas, if there is a single worker
  };
  On on = On::kHosts;
  std::int64_t first = 0;
  int count = 1;
  Placement placement = Placement::kRoundRobin;

  /// The device that forwards all gradients of a worker to the servers (push), or all variables
  /// from the servers to the worker (pull).
  enum class Relay : std::uint8_t {
    kNone,               ///< every replica communicates separately
    kHost,               ///< the worker's CPU
    kReplicaRoundRobin,  ///< for variable i, replica i mod G of the G replicas of the worker
    kByLoad,  ///< for variables of fewer than 65536 elements, the CPU; for all others, the replica
              ///< with the fewest elements so far
  };
  Relay push = Relay::kNone;
  Relay pull = Relay::kNone;

  /// True: replicas read the variables from the servers at the beginning of the next training step.
  /// False: replicas have their own copies of the variables, which are updated immediately.
  bool reads = true;
  /// True: the server that sums a variable's gradients also updates the variable. False: every
  /// replica updates its own copy of the variable.
  bool updates = true;
  /// True if workers are asynchronous: they do not wait for each other.
  bool asynchronous = false;
};

/// TensorFlow's HierarchicalCopyAllReduce.
struct HierarchicalCopy {
  /// The rule by which two devices are selected for a pack. Each of the two devices sums the
  /// gradients of one group of devices (copy_roots()).
  enum class Topology : std::uint8_t { kDgx1, kGcpV100 };
  Topology topology = Topology::kDgx1;
  bool drops_odd = false;  ///< true if the gradients of the last of an odd number of
                           ///< devices are dropped, as in TensorFlow; false: this device belongs
                           ///< to the second group
};

/// The two devices that sum a pack, and the two groups into which the devices are divided.
struct CopyRoots {
  int first = 0;   ///< device that also computes the final sum
  int second = 0;  ///< device that sums the other group, to which `first` does not belong
  int group = 1;   ///< size of the first group, which has the devices 0 … group - 1; it contains
                   ///< either `first` or `second`
};
/// Returns the devices that sum the pack with this index. REQUIRES: at least 2 devices; 8 with
/// kGcpV100.
CopyRoots copy_roots(HierarchicalCopy::Topology topology, int devices, std::int64_t index);

/// Returns a description of the servers, such as "on the CPUs of workers 2 to 3, greedy by bytes".
std::string describe(const Servers& servers);

}  // namespace tutti::core
