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

/// What a device can do besides sending and receiving. Rates are of the whole device; 0 takes no time.
struct DeviceRates {
  Bandwidth memory;                             ///< bytes read or written per second by a streaming kernel
  Bandwidth reduce;                             ///< bytes of one operand per second when two are added
  Bandwidth copy;                               ///< bytes copied per second inside the device
  int threads = 1;                              ///< operations served at a time, each at an equal part of the rates
  std::map<DataType, double> flops_per_second;  ///< peak; types that are missing are not known
  int multiprocessors = 0;                      ///< of a GPU; 0: not known

  bool operator==(const DeviceRates&) const = default;
};

/// A device, switch or network card of a machine.
struct Part {
  std::string name;
  PartKind kind = PartKind::kGpu;
  DeviceRates device;                ///< of a GPU or CPU
  Bandwidth nic;                     ///< of a network card
  bool in_switch_reduction = false;  ///< of a switch
  std::string source;
  Transport transport = Transport::kNone;   ///< of a network card, if its file states it
  GpuModel gpu_model = GpuModel::kNone;     ///< of a GPU, likewise
  CpuVendor cpu_vendor = CpuVendor::kNone;  ///< of a CPU, likewise

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
  Bandwidth nominal{};  ///< what vendors state for it, headers included; 0: not known
};

/// An order of GPU indices (0 is the machine's first GPU) that `channels` NCCL channels go round in.
struct RingOrder {
  std::vector<int> gpus;
  int channels = 1;
};

/// What one worker is made of, and how its parts reach each other. Never changes once made.
///
/// A route between two parts is the widest one (whose narrowest link is widest); among those the one of fewest links;
/// among those the one of least latency; among those the one whose links come first. Switches and CPUs pass traffic on,
/// GPUs and network cards do not. This is how NCCL ranks paths, less its detour over a neighbour GPU's NVLink.
/// SOURCE: NVIDIA/nccl src/graph/paths.cc (widest, then fewest hops).
class Machine {
 public:
  /// REQUIRES: link ends are indices of `parts`; ring orders are permutations of the GPUs.
  Machine(std::string name, std::vector<Part> parts, std::vector<MachineLink> links,
          std::vector<RingOrder> rings_inside, std::vector<RingOrder> rings_across);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const std::vector<MachineLink>& links() const { return links_; }
  /// Indices of the parts of a kind, in file order.
  [[nodiscard]] const std::vector<int>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<int>& nics() const { return nics_; }

  /// The links from one device or network card to another, in order; empty from a part to itself; nothing if there is
  /// no way.
  [[nodiscard]] std::optional<std::span<const int>> route(int from, int to) const;

  /// The network card (an index into `nics()`) that a device uses: the one that its widest, then shortest route leads
  /// to; devices for which the same cards are equally near take them in turn. -1 if it reaches none.
  [[nodiscard]] int nearest_nic(int device) const { return nearest_nic_[static_cast<std::size_t>(device)]; }

  /// Ring orders for NCCL channels inside one worker and over several. May be empty.
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
  std::vector<std::vector<Route>> routes_;  ///< [from][to]
  std::vector<int> nearest_nic_;            ///< by part
};

}  // namespace tutti::core
