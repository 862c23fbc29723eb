#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/units.h"
#include "core/cluster/device_model.h"
#include "core/cluster/transport.h"

namespace tutti::core {

enum class PartKind { kGpu, kCpu, kPcieSwitch, kNvswitch, kNic };
enum class LinkKind { kNvlink, kPcie, kSocket, kNetwork };
inline constexpr int kLinkKinds = 4;

std::string_view to_string(LinkKind kind);

/// The processing rates of a device. They are of the whole device; 0: takes no time.
struct DeviceRates {
  Bandwidth memory;  ///< bytes read or written per second by a streaming kernel
  Bandwidth reduce;  ///< bytes of one operand per second when two are added
  Bandwidth copy;    ///< bytes copied per second inside the device
  int threads = 1;   ///< concurrent operations, which share the rates equally
  std::map<DataType, double> flops_per_second;  ///< peak of each type; missing: not known
  int multiprocessors = 0;  ///< number of multiprocessors of a GPU; 0: not known

  bool operator==(const DeviceRates&) const = default;
};

/// A device, switch or network card of a machine.
struct Part {
  std::string name;
  PartKind kind = PartKind::kGpu;
  DeviceRates device;                ///< only for a GPU or CPU
  Bandwidth nic;                     ///< only for a network card
  bool in_switch_reduction = false;  ///< only for a switch
  std::string source;
  Transport transport = Transport::kNone;   ///< only for a network card, if its file states it
  GpuModel gpu_model = GpuModel::kNone;     ///< only for a GPU, if its file states it
  CpuVendor cpu_vendor = CpuVendor::kNone;  ///< only for a CPU, if its file states it

  [[nodiscard]] bool is_device() const { return kind == PartKind::kGpu || kind == PartKind::kCpu; }
};

/// One direction of a connection between two parts, given by their indices.
struct MachineLink {
  int from = 0;
  int to = 0;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Time latency;
  std::string source;
  Bandwidth nominal{};  ///< the rate that vendors state, headers included; 0: not known
};

/// A ring order of GPU indices (0 is the machine's first GPU) that `channels` NCCL channels use.
struct RingOrder {
  std::vector<int> gpus;
  int channels = 1;
};

/// The hardware of one worker and the routes between its parts. Immutable.
///
/// The route between two parts is the widest path (its narrowest link is the widest); among those,
/// the one with the fewest links, then the least latency, then the links that come first. Switches
/// and CPUs forward traffic, GPUs and network cards do not. NCCL ranks paths in the same way,
/// except for its detour over another GPU's NVLink.
/// SOURCE: NVIDIA/nccl src/graph/paths.cc (widest, then fewest hops).
class Machine {
 public:
  /// REQUIRES: link ends are indices of `parts`; ring orders are permutations of the GPUs.
  Machine(std::string name, std::vector<Part> parts, std::vector<MachineLink> links,
          std::vector<RingOrder> rings_inside, std::vector<RingOrder> rings_across);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<MachineLink>& links() const { return links_; }
  /// The indices of the parts of each kind, in file order.
  [[nodiscard]] const std::vector<int>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<int>& nics() const { return nics_; }

  /// Returns the links from one device or network card to another, in order; empty from a part to
  /// itself; nullopt if there is no route.
  [[nodiscard]] std::optional<std::span<const int>> route(int from, int to) const;

  /// Returns the network card (an index into `nics()`) that a device uses: the end of its widest,
  /// then shortest route. Devices for which several cards are equally near are assigned to them
  /// round-robin. -1 if the device reaches none.
  [[nodiscard]] int nearest_nic(int device) const {
    return nearest_nic_[static_cast<std::size_t>(device)];
  }

  /// The ring orders for NCCL channels inside one worker and across several workers. May be empty.
  [[nodiscard]] const std::vector<RingOrder>& rings_inside() const { return rings_inside_; }
  [[nodiscard]] const std::vector<RingOrder>& rings_across() const { return rings_across_; }

 private:
  struct Route {
    bool exists = false;
    std::vector<int> links;
  };

  void find_routes(int from);
  void assign_nics();
  [[nodiscard]] const Route& route_entry(int from, int to) const;

  std::string name_;
  std::vector<Part> parts_;
  std::vector<MachineLink> links_;
  std::vector<RingOrder> rings_inside_;
  std::vector<RingOrder> rings_across_;
  std::vector<int> gpus_, cpus_, nics_;
  std::vector<std::vector<Route>> routes_;  ///< indexed [from][to]
  std::vector<int> nearest_nic_;            ///< network card nearest to each part
};

}  // namespace tutti::core
