#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::core {

/// The rule that places variables on devices. Variables are placed in order of creation. If several
/// devices are equally suitable, the first one is used.
enum class Placement : std::uint8_t {
  kRoundRobin,   ///< each variable on the next device, cyclically
  kGreedyBytes,  ///< each variable on the device with the fewest bytes so far
  kMinElements,  ///< each variable on the device with the fewest elements so far
  kByHash,       ///< each partition on the device given by the hash of its key
                 ///< (core/framework/byteps/keys.h); place() does not support this
};
std::string_view to_string(Placement placement);

/// A variable to be placed.
struct Placed {
  std::int64_t elements = 0;
  Bytes bytes;
  /// True if the variable is already placed on another device. place() skips such variables.
  bool pinned = false;
};

/// Returns the index of each variable's device; -1 for pinned variables. `places` is the number of
/// devices. Cost: proportional to variables times devices.
/// SOURCE: tensorflow/python/training/device_setter.py, _RoundRobinStrategy;
/// tensorflow/contrib/training/device_setter.py, GreedyLoadBalancingStrategy; tensorflow/benchmarks
/// variable_mgr_util.py, ParamServerDeviceSetter.
std::vector<int> place(const std::vector<Placed>& variables, int places, Placement placement);

/// The devices that store variables. Each variable is stored on one device, which also sums its
/// gradients.
struct Servers {
  enum class On : std::uint8_t {
    kHosts,     ///< CPUs of the workers `first` … `first` + `count` - 1
    kReplicas,  ///< replicas of the only worker
  };
  On on = On::kHosts;
  std::int64_t first = 0;
  int count = 1;
  Placement placement = Placement::kRoundRobin;

  /// The device of each worker that forwards all gradients (push) or variables (pull) of the
  /// worker.
  enum class Relay : std::uint8_t {
    kNone,               ///< every replica communicates separately
    kHost,               ///< the worker's CPU
    kReplicaRoundRobin,  ///< replica i mod G for variable i, if a worker has G replicas
    kByLoad,  ///< the CPU for variables of fewer than 65536 elements; otherwise the replica with
              ///< the fewest elements so far
  };
  Relay push = Relay::kNone;
  Relay pull = Relay::kNone;

  /// True: replicas read the variables at the beginning of their next training step. False:
  /// replicas have copies of the variables, which are updated immediately.
  bool reads = true;
  /// True: the device that sums a variable's gradients also updates the variable. False: every
  /// replica updates its own copy.
  bool updates = true;
  /// True if workers do not wait for each other (asynchronous training).
  bool asynchronous = false;
};

/// TensorFlow's HierarchicalCopyAllReduce.
struct HierarchicalCopy {
  /// The rule that selects the two devices that sum a pack, one per group (copy_roots()).
  enum class Topology : std::uint8_t { kDgx1, kGcpV100 };
  Topology topology = Topology::kDgx1;
  bool drops_odd = false;  ///< true if the gradients of an odd device are dropped, as in
                           ///< TensorFlow; false: the odd device belongs to the second group
};

/// The two devices that sum a pack, and the division of the devices into two groups.
struct CopyRoots {
  int first = 0;   ///< device that computes the final sum
  int second = 0;  ///< device that sums the group to which `first` does not belong
  int group = 1;   ///< size of the first group, which consists of devices 0 … group - 1; either
                   ///< root may belong to this group
};
/// Returns the roots of pack `index`. REQUIRES: at least 2 devices; 8 with kGcpV100.
CopyRoots copy_roots(HierarchicalCopy::Topology topology, int devices, std::int64_t index);

/// Returns a description of the servers: "on the CPUs of workers 2 to 3, greedy by bytes".
std::string describe(const Servers& servers);

}  // namespace tutti::core
