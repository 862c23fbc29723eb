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

/// The processing rates of a whole device. A rate of 0 means that the work takes no time.
struct DeviceRates {
  Bandwidth memory;  ///< bytes that a streaming kernel reads or writes per second
  Bandwidth reduce;  ///< bytes of one operand per second when two buffers are added element by
                     ///< element
  Bandwidth copy;    ///< bytes copied per second inside the device
  int threads = 1;   ///< number of operations that can run at the same time; they share the rates
                     ///< equally
  std::map<Precision, double> flops_per_second;  ///< peak rate for each precision; a precision
                                                 ///< without an entry has an unknown rate
  double memory_gb = 0;                          ///< capacity of the memory; 0: unknown
  int multiprocessors = 0;                       ///< number of multiprocessors of a GPU; 0: unknown

  bool operator==(const DeviceRates&) const = default;
};

/// A device, switch or network card of a machine.
struct Part {
  std::string name;
  PartKind kind = PartKind::kGpu;
  DeviceRates device;                ///< only for GPUs and CPUs
  Bandwidth nic;                     ///< bandwidth; only for network cards
  bool in_switch_reduction = false;  ///< true if the switch can reduce; only for switches
  std::string source;
  Transport transport = Transport::kNone;  ///< transport of a network card; kNone: not specified,
                                           ///< or not a network card
  int nic_devices = 1;                     ///< number of network devices that form a network card,
                                           ///< such as EFA devices or ports (`devices` of message
                                           ///< Nic)
  GpuModel gpu_model = GpuModel::kNone;    ///< model of a GPU; kNone: not specified, or not a GPU
  GpuModel nearest_gpu_model = GpuModel::kNone;  ///< for a GPU whose model is not in GpuModel: the
                                                 ///< most similar model
  CpuVendor cpu_vendor = CpuVendor::kNone;  ///< vendor of a CPU; kNone: not specified, or not a CPU
  bool peer_access = true;  ///< true if other GPUs can access the memory of this GPU over PCIe

  [[nodiscard]] bool is_device() const { return kind == PartKind::kGpu || kind == PartKind::kCpu; }
  bool operator==(const Part&) const = default;
};

/// One direction of a connection. `from` and `to` are indices of devices, switches or cards in
/// Machine::parts().
struct MachineLink {
  int from = 0;
  int to = 0;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Time latency;
  std::string source;
  Bandwidth nominal{};  ///< nominal rate in the vendor's specification, including packet headers;
                        ///< 0: unknown

  bool operator==(const MachineLink&) const = default;
};

/// A ring over the machine's GPUs. NCCL uses this ring for `channels` of its channels. `gpus`
/// contains indices into Machine::gpus(), in the order of the ring.
struct RingOrder {
  std::vector<int> gpus;
  int channels = 1;
};

/// The hardware of one worker (devices, switches and network cards), and the routes inside the
/// worker. A Machine cannot be changed.
///
/// The route between two parts is the widest path: the path whose slowest link is fastest. Among
/// equally wide paths, the path with the fewest links is chosen. If several paths are still equal,
/// the path with the lowest latency is chosen; of several such paths, the one whose links come
/// first in the machine file. Switches and CPUs forward traffic, GPUs and network cards do not. Two
/// GPUs with an NVLink between them always use it, even if another path is wider. Between GPUs
/// without peer access, the sender writes data to the memory of its CPU, and the receiver reads the
/// data from there. The route therefore passes this CPU, even if both GPUs are behind the same PCIe
/// switch. NCCL uses the same order of preference, but may also route NVLink traffic through
/// another GPU.
/// SOURCE: NVIDIA/nccl src/graph/paths.cc (widest, then fewest hops).
class Machine {
 public:
  /// REQUIRES: `from` and `to` of each link are indices into `parts`; each ring order is a
  /// permutation of the GPUs.
  Machine(std::string name, std::vector<Part> parts, std::vector<MachineLink> links,
          std::vector<RingOrder> rings_inside, std::vector<RingOrder> rings_across);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<MachineLink>& links() const { return links_; }
  /// The indices of the parts of one kind, in file order.
  [[nodiscard]] const std::vector<int>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<int>& nics() const { return nics_; }

  /// Returns the links of the route from one part to another, from the first to the last. The route
  /// from a part to itself is empty; nullopt means that there is no route.
  [[nodiscard]] std::optional<std::span<const int>> route(int from, int to) const;

  /// The PCIe link that limits GPUs that send to host memory.
  struct ToHost {
    Bandwidth of_gpu;  ///< rate that remains for each GPU if all GPUs send; 0: no route to a CPU
    int gpus = 1;      ///< number of GPUs that share the link
  };
  /// Returns the link that limits the first `gpus` GPUs if all of them send to host memory at the
  /// same time. GPUs behind one PCIe switch share the link between the switch and the CPU.
  [[nodiscard]] ToHost to_host(int gpus) const;

  /// Returns the network card that a device uses, as an index into nics(); -1 if no card is
  /// reachable. A device uses the card with the widest route; if several routes are equally wide,
  /// the card with the shortest route, and then the card with the lowest latency. If the same cards
  /// are equally good for several devices, the cards are assigned to these devices round-robin.
  [[nodiscard]] int nearest_nic(int device) const { return nearest_nic_[device]; }

  /// The orders of the GPUs in the rings of NCCL's channels: rings_inside() for groups whose ranks
  /// are all on one worker, rings_across() for groups on several workers. The lists may be empty.
  [[nodiscard]] const std::vector<RingOrder>& rings_inside() const { return rings_inside_; }
  [[nodiscard]] const std::vector<RingOrder>& rings_across() const { return rings_across_; }

 private:
  struct Route {
    bool exists = false;
    std::vector<int> links;
  };

  void find_routes(int from);
  void route_through_hosts();
  [[nodiscard]] int nearest_cpu(int part) const;
  void assign_nics();
  [[nodiscard]] const Route& route_entry(int from, int to) const;

  std::string name_;
  std::vector<Part> parts_;
  std::vector<MachineLink> links_;
  std::vector<RingOrder> rings_inside_;
  std::vector<RingOrder> rings_across_;
  std::vector<int> gpus_, cpus_, nics_;
  std::vector<std::vector<Route>> routes_;  ///< indexed [from][to]
  std::vector<int> nearest_nic_;            ///< index of each part's nearest network card; -1: none
};

}  // namespace tutti::core
