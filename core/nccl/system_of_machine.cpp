#include "core/nccl/system_of_machine.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/nccl/known_gpus.h"
#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {
namespace {

const Part& part(const Machine& machine, int index) { return machine.parts()[index]; }

/// Converts rates of NVLinks to the rates of data sheets. `payload` is the ratio of payload rate to
/// data-sheet rate; it is needed for a link of which only the payload rate is known.
double data_sheet_gb_per_s(const MachineLink& link, double payload) {
  return link.nominal.count() > 0 ? to_gb_per_s(link.nominal)
                                  : to_gb_per_s(link.bandwidth) / payload;
}

/// The NVLinks of the first `gpus` GPUs of a machine. NVLinks to a CPU are not included, because
/// NCCL treats them as a different kind of link, C2C.
class Nvlinks {
 public:
  Nvlinks(const Machine& machine, int gpus, double payload)
      : all_(static_cast<int>(machine.gpus().size())),
        pairs_(gpus, std::vector<double>(gpus)),
        neighbours_(gpus) {
    const auto index_of = [&](int part) {
      const auto& of_machine = machine.gpus();
      return static_cast<int>(std::find(of_machine.begin(), of_machine.end(), part) -
                              of_machine.begin());
    };
    for (const MachineLink& link : machine.links()) {
      const int from = index_of(link.from), to = index_of(link.to);
      if (link.kind != LinkKind::kNvlink || from >= gpus) continue;
      const double rate = data_sheet_gb_per_s(link, payload);
      const bool to_switch = part(machine, link.to).kind == PartKind::kNvswitch;
      if (!to_switch && to == all_) continue;
      if (from == 0) of_first_ += rate;
      if (to_switch) {
        to_switch_ = true;
        continue;
      }
      neighbours_[from].insert(to);
      if (to < gpus) pairs_[from][to] += rate;
    }
  }

  /// Returns the connection between the GPUs, which NCCL determines from the links between the
  /// participating GPUs.
  [[nodiscard]] Inside inside() const {
    const int gpus = static_cast<int>(pairs_.size());
    if (gpus == 1) return Inside::kAlone;
    if (to_switch_) return Inside::kNvswitch;
    const bool cube_mesh =
        all_ == 8 && std::all_of(neighbours_.begin(), neighbours_.end(),
                                 [](const std::set<int>& to) { return to.size() == 4; });
    if (cube_mesh) return Inside::kCubeMesh;
    if (joins_all_pairs_evenly()) return Inside::kPairs;
    return reaches_all_over_one_gpu() ? Inside::kCubeMesh : Inside::kPcie;
  }

  /// gb_per_s() returns the total data-sheet rate in GB/s of all NVLinks of the first GPU.
  /// to_participants_gb_per_s() counts only its NVLinks to participating GPUs.
  [[nodiscard]] double gb_per_s() const { return of_first_; }
  [[nodiscard]] double to_participants_gb_per_s() const {
    return std::accumulate(pairs_.front().begin(), pairs_.front().end(), 0.0);
  }

 private:
  [[nodiscard]] bool joins_all_pairs_evenly() const {
    for (std::size_t a = 0; a < pairs_.size(); ++a) {
      for (std::size_t b = 0; b < pairs_.size(); ++b) {
        if (a != b && (pairs_[a][b] == 0 || pairs_[a][b] != pairs_[0][1])) return false;
      }
    }
    return true;
  }
  /// True if every GPU reaches every other GPU over NVLink, directly or through one other GPU.
  [[nodiscard]] bool reaches_all_over_one_gpu() const {
    for (std::size_t a = 0; a < pairs_.size(); ++a) {
      for (std::size_t b = 0; b < pairs_.size(); ++b) {
        bool reaches = a == b;
        for (std::size_t over = 0; over < pairs_.size(); ++over)
          reaches = reaches || (pairs_[a][over] > 0 && (over == b || pairs_[over][b] > 0));
        if (!reaches) return false;
      }
    }
    return true;
  }

  int all_;                                 ///< number of GPUs of the machine
  std::vector<std::vector<double>> pairs_;  ///< data-sheet rates in GB/s between participating GPUs
  std::vector<std::set<int>> neighbours_;   ///< for each participating GPU: the GPUs of the machine
                                            ///< to which it has NVLinks
  bool to_switch_ = false;
  double of_first_ = 0;
};

/// Returns the payload rate in GB/s of a GPU's PCIe connection; `usual` if the machine file has no
/// PCIe link of this GPU.
double pcie_of(const Machine& machine, int gpu, double usual) {
  double widest = 0;
  for (const MachineLink& link : machine.links()) {
    if (link.kind == LinkKind::kPcie && link.from == gpu)
      widest = std::max(widest, to_gb_per_s(link.bandwidth));
  }
  return widest > 0 ? widest : usual;
}

/// True if the route from a GPU to its network card crosses no CPU.
bool shares_pcie_switch(const Machine& machine, int gpu) {
  const int nic = machine.nearest_nic(gpu);
  if (nic < 0) return false;
  const auto route = machine.route(gpu, machine.nics()[nic]);
  return route && std::none_of(route->begin(), route->end(), [&](int link) {
           return part(machine, machine.links()[link].to).kind == PartKind::kCpu;
         });
}

/// Returns the names of the GPU models that the time model has parameters for.
std::string known_models() {
  std::string all;
  for (int m = 1; m <= static_cast<int>(GpuModel::kB200); ++m) {
    const auto model = static_cast<GpuModel>(m);
    if (find_gpu(model)) all.append(all.empty() ? "" : ", ").append(to_string(model));
  }
  return all;
}

/// Returns the kind of the machine's first CPU; `usual` if its vendor is unspecified.
HostCpu cpu_of(const Machine& machine, HostCpu usual) {
  if (machine.cpus().empty()) return usual;
  switch (part(machine, machine.cpus().front()).cpu_vendor) {
    case core::CpuVendor::kNone: return usual;
    case core::CpuVendor::kIntel: return HostCpu::kIntel;
    case core::CpuVendor::kAmd: return HostCpu::kAmd;
    case core::CpuVendor::kArm: return HostCpu::kArm;
  }
  return usual;
}

}  // namespace

double usual_latency_us(Transport transport) {
  switch (transport) {
    case Transport::kInfiniband: return 1.5;
    case Transport::kRoce:
    case Transport::kSlingshot: return 2.2;
    case Transport::kEfaV2: return 10.9;
    case Transport::kEfaV3:
    case Transport::kEfaV4: return 7.1;
    default: break;
  }
  return is_efa(transport) ? 15.5 : 30;  // TCP, TCPX and TCPXO
}

std::string note_on_nearest_gpu(const Machine& machine) {
  if (machine.gpus().empty()) return "";
  const Part& gpu = part(machine, machine.gpus().front());
  if (gpu.gpu_model != GpuModel::kNone || gpu.nearest_gpu_model == GpuModel::kNone) return "";
  return fmt::format(
      "{}: NCCL's times use the parameters of {}, the nearest known model of its GPUs "
      "(nearest_gpu_model); the error bands are wider for this reason",
      machine.name(), to_string(gpu.nearest_gpu_model));
}

Sockets sockets_of(const HostTransport& hosts) {
  Sockets sockets;
  sockets.thread_gb_per_s = to_gb_per_s(hosts.send.thread);
  sockets.threads = hosts.send.threads;
  sockets.per_thread = hosts.sockets_per_thread;
  sockets.host_gb_per_s = to_gb_per_s(hosts.host.thread);
  sockets.overlay_us = to_us(hosts.overlay);
  return sockets;
}

Expected<System> system_of(const Machine& machine, int nodes, std::optional<int> gpus,
                           const std::optional<std::string>& network, const std::string& option) {
  const auto wrong = [&](ProblemKind kind, const std::string& text) {
    return tl::make_unexpected(
        Error::request(std::move(kind), fmt::format("machine {}: {}", machine.name(), text)));
  };
  const int of_machine = static_cast<int>(machine.gpus().size());
  if (of_machine == 0)
    return wrong({ProblemCode::kMissing, "Machine.device"},
                 "the machine has no GPUs, but NCCL needs GPUs");
  System s;
  s.nodes = nodes;
  s.gpus = gpus.value_or(of_machine);
  if (s.gpus < 1 || s.gpus > of_machine)
    return wrong({s.gpus < 1 ? ProblemCode::kTooSmall : ProblemCode::kTooLarge, "Machine.device"},
                 fmt::format("the machine has {} GPUs, not {}", of_machine, s.gpus));
  const int first = machine.gpus().front();
  s.nearest_gpu = part(machine, first).gpu_model == GpuModel::kNone;
  const GpuModel model =
      s.nearest_gpu ? part(machine, first).nearest_gpu_model : part(machine, first).gpu_model;
  if (model == GpuModel::kNone)
    return wrong({ProblemCode::kMissing, "Device.gpu_model"},
                 fmt::format("the model of GPU {} is unknown; set device {{ gpu_model: … }} in the "
                             "machine's file to one of {}; if the GPU's model is not in this list, "
                             "set nearest_gpu_model to the most similar one instead",
                             part(machine, first).name, known_models()));
  const KnownGpu* gpu = find_gpu(model);
  if (gpu == nullptr)
    return wrong(
        {ProblemCode::kUnsupported, "Device.gpu_model"},
        fmt::format("the NCCL time model has no parameters for {}; there are parameters for {}",
                    to_string(model), known_models()));
  s.generation = gpu->generation;
  s.compute_capability = gpu->compute_capability;
  s.pcie_gb_per_s = pcie_of(machine, first, gpu->pcie_gb_per_s);
  s.peer_access = part(machine, first).peer_access;
  const Machine::ToHost to_host = machine.to_host(s.gpus);
  s.to_host_gb_per_s = to_gb_per_s(to_host.of_gpu);
  s.gpus_of_uplink = to_host.gpus;
  s.cpu = cpu_of(machine, gpu->cpu);
  s.grace = gpu->cpu == HostCpu::kArm;
  const Nvlinks nvlinks(
      machine, s.gpus,
      nvlink_gb_per_s(gpu->compute_capability) / std::max(1.0, gpu->nvlink_gb_per_s));
  if (nvlinks.gb_per_s() > 0 && gpu->nvlink_gb_per_s == 0)
    return wrong(
        {ProblemCode::kConflict, "Device.gpu_model"},
        fmt::format("{} has no NVLink, but the machine connects GPU {} over NVLink; correct "
                    "the model or the links",
                    to_string(model), part(machine, first).name));
  s.card = nvlinks.gb_per_s() == 0;
  s.inside = nvlinks.inside();
  s.nvlink_gb_per_s = gpu->nvlink_gb_per_s;
  // NCCL removes GPUs that do not take part from its topology, and the NVLinks to them.
  const double links_gb_per_s =
      s.inside == Inside::kPairs ? nvlinks.to_participants_gb_per_s() : nvlinks.gb_per_s();
  s.nvlinks = gpu->nvlink_gb_per_s > 0
                  ? static_cast<int>(std::lround(links_gb_per_s / gpu->nvlink_gb_per_s))
                  : 0;
  s.switch_multicasts = std::any_of(
      machine.parts().begin(), machine.parts().end(),
      [](const Part& one) { return one.kind == PartKind::kNvswitch && one.in_switch_reduction; });
  if (nodes == 1) return s;
  if (machine.nics().empty())
    return wrong({ProblemCode::kMissing, "Machine.nic"},
                 "the machine has no network card for communication between workers");
  const Part& card = part(machine, machine.nics().front());
  const auto transport = network ? parse_transport(*network) : card.transport;
  if (!transport)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnknownName, option},
        fmt::format("{} {}: expected one of {}", option, *network, transport_names())));
  if (transport == Transport::kNone)
    return wrong({ProblemCode::kMissing, "Nic.transport"},
                 fmt::format("the transport of network card {} is unknown; set nic {{ transport: … "
                             "}} in the machine's file (one of {}), or {} (one of {})",
                             card.name, transport_names_in_files(), option, transport_names()));
  s.transport = at_gpus(*transport, s.generation);
  // Collect the network cards that are nearest to the participating GPUs.
  std::set<int> cards;
  for (int g = 0; g < s.gpus; ++g) cards.insert(machine.nearest_nic(machine.gpus()[g]));
  cards.erase(-1);
  const int all = static_cast<int>(machine.nics().size());
  // If a GPU has several cards, nearest_nic() is only one of them.
  const int of_gpus = std::max(static_cast<int>(cards.size()), s.gpus * (all / of_machine));
  s.nics = std::max(1, s.gpus == of_machine ? all : of_gpus);
  s.nic_gb_per_s = static_cast<double>(card.nic.count()) / 1e9;
  s.devices_per_card = card.nic_devices;
  s.shares_pcie_switch = shares_pcie_switch(machine, first);
  if (s.transport == Transport::kTcp)
    s.sockets = sockets_of(*host_transport(HostLibrary::kNccl, {}));
  return s;
}

}  // namespace tutti::core::nccl
