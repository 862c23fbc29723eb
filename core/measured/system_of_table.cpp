#include "core/measured/system_of_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/cluster/transport.h"
#include "core/nccl/collnet.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/ofi_plugin.h"

namespace tutti::core {
namespace {

using nccl::HostCpu;
using nccl::Inside;

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Derives the transport from the type of network card in a record, such as "HDR InfiniBand" or
/// "HPE Slingshot-11 (aws-ofi-nccl)". Records contain no other information about the network.
std::optional<Transport> transport_of(const std::string& nic_type) {
  if (has(nic_type, "TCP over") || has(nic_type, "Ethernet") || has(nic_type, "ENA"))
    return Transport::kTcp;
  if (has(nic_type, "TCPXO")) return Transport::kTcpxo;
  if (has(nic_type, "TCPX")) return Transport::kTcpx;
  if (has(nic_type, "EFA v1")) return Transport::kEfaV1;
  if (has(nic_type, "EFA v2")) return Transport::kEfaV2;
  if (has(nic_type, "EFA v3")) return Transport::kEfaV3;
  if (has(nic_type, "EFA v4")) return Transport::kEfaV4;
  if (has(nic_type, "EFA")) return Transport::kEfa;
  if (has(nic_type, "Slingshot")) return Transport::kSlingshot;
  if (has(nic_type, "InfiniBand")) return Transport::kInfiniband;
  if (has(nic_type, "RoCE")) return Transport::kRoce;
  // ConnectX cards support both InfiniBand and RoCE. InfiniBand is assumed, because NVIDIA's own
  // machines use it.
  if (has(nic_type, "ConnectX")) return Transport::kInfiniband;
  return std::nullopt;
}

/// True if NVLink bridges connect the GPUs, which are PCIe cards, in pairs.
bool is_bridged(const TableFacts& facts) { return has(facts.intra, "bridge"); }

std::optional<Inside> inside_of(const TableFacts& facts) {
  if (facts.gpus_per_node == 1) return Inside::kAlone;
  if (facts.nvswitch || has(facts.intra, "NVSwitch")) return Inside::kNvswitch;
  if (is_bridged(facts)) return facts.gpus_per_node == 2 ? Inside::kPairs : Inside::kPcie;
  if (has(facts.intra, "all-to-all")) return Inside::kPairs;
  if (has(facts.intra, "cube mesh")) return Inside::kCubeMesh;
  if (has(facts.intra, "PCIe")) return Inside::kPcie;
  return std::nullopt;
}

/// For systems with NVLink domains of 72 GPUs, makes each domain one node, as NCCL does, regardless
/// of its number of hosts.
void join_racks(nccl::System& system) {
  constexpr int kHostsOfRack = 18;
  const int racks = (system.nodes + kHostsOfRack - 1) / kHostsOfRack;
  system.gpus = system.ranks() / racks;
  system.nics = system.nics * system.nodes / racks;
  system.nodes = racks;
}

constexpr std::int64_t kMaxParts = 1000;  ///< maximum number of NVLinks of a GPU or of network
                                          ///< cards of a node
bool is_rate(double value) { return value >= 1e-3 && value <= 1e6; }

std::string variable(const TableFacts& facts, const char* name) {
  for (const auto& [variable, value] : facts.env) {
    if (variable == name) return value;
  }
  return "";
}

/// Returns how messages are matched on a Slingshot network. If a record lists no environment
/// variables, the settings that the sites recommend are assumed. Otherwise, variables that are not
/// listed have libfabric's defaults. SOURCE: fi_cxi(7) for the defaults; docs.cscs.ch, NCCL, and
/// set-up (5) of argonne-lcf/alcf-nccl-tests for the recommendations, both with
/// FI_CXI_RX_MATCH_MODE=software.
nccl::Matching matching_of(const TableFacts& facts) {
  if (facts.env.empty()) return nccl::Matching::kByCpu;
  if (variable(facts, "FI_CXI_RX_MATCH_MODE") != "software") return nccl::Matching::kByCard;
  return variable(facts, "FI_HMEM_CUDA_USE_GDRCOPY") == "1" ? nccl::Matching::kByCpu
                                                            : nccl::Matching::kByCpuSlowly;
}

}  // namespace

Expected<TableSystem> system_of(const TableFacts& facts) {
  const auto cannot = [](ProblemKind kind, std::string why) {
    return tl::make_unexpected(Error::request(std::move(kind), std::move(why)));
  };
  TableSystem made;
  nccl::System& s = made.system;
  const nccl::KnownGpu* gpu = nccl::find_gpu(facts.gpu_model);
  if (has(facts.gpu_model, "MI3") || has(facts.version, "RCCL"))
    return cannot({ProblemCode::kUnsupported, "gpu_model"},
                  "AMD GPUs use RCCL, a different library with its own choices");
  if (gpu == nullptr && !facts.nearest_gpu_model.empty()) {
    gpu = nccl::find_gpu(facts.nearest_gpu_model);
    s.nearest_gpu = true;
    if (gpu == nullptr)
      return cannot(
          {ProblemCode::kUnknownName, "nearest_gpu_model"},
          fmt::format("the model has no parameters for the GPU {}", facts.nearest_gpu_model));
  }
  if (gpu == nullptr)
    return cannot(
        {ProblemCode::kUnknownName, "gpu_model"},
        fmt::format("the time model has no parameters for the GPU {}; set nearest_gpu_model in the "
                    "table's record to the most similar GPU that has parameters",
                    facts.gpu_model));
  if (facts.nodes < 1 || facts.gpus_per_node < 1 || facts.ranks < 2 || facts.nodes > 1'000'000 ||
      facts.gpus_per_node > 1'000)
    return cannot({ProblemCode::kMissing, "n_ranks"},
                  "the number of ranks, of nodes or of GPUs per node is missing or 0");
  if (facts.ranks != facts.nodes * facts.gpus_per_node)
    return cannot({ProblemCode::kConflict, "n_ranks"},
                  fmt::format("the number of ranks ({}) is not {} nodes times {} GPUs", facts.ranks,
                              facts.nodes, facts.gpus_per_node));
  s.generation = gpu->generation;
  s.compute_capability = gpu->compute_capability;
  s.pcie_gb_per_s = gpu->pcie_gb_per_s;
  s.cpu = gpu->cpu;
  s.grace = gpu->cpu == HostCpu::kArm;
  made.assumed.emplace_back(s.cpu == HostCpu::kArm   ? ""
                            : s.cpu == HostCpu::kAmd ? "AMD CPUs"
                                                     : "Intel CPUs");
  if (made.assumed.back().empty()) made.assumed.pop_back();
  s.card = has(facts.gpu_model, "PCI") || has(facts.gpu_model, "T4") ||
           has(facts.gpu_model, "L40") || has(facts.gpu_model, "RTX");
  if (facts.driving) s.driving = *facts.driving;
  if (!facts.driving && facts.gpus_per_node > 1)
    made.assumed.emplace_back("a process for every GPU");
  s.nodes = static_cast<int>(facts.nodes);
  s.gpus = static_cast<int>(facts.gpus_per_node);
  const auto inside = inside_of(facts);
  if (!inside)
    return cannot({ProblemCode::kUnsupported, "intra"},
                  fmt::format("GPUs connected by \"{}\" are not modelled", facts.intra));
  s.inside = *inside;
  const bool bridged = is_bridged(facts);
  s.card = s.card || bridged;
  if (facts.pcie_gb_per_s) {
    if (!is_rate(*facts.pcie_gb_per_s))
      return cannot({ProblemCode::kInvalid, "pcie_gbytes_dir"},
                    fmt::format("no PCIe link has {} GB/s", *facts.pcie_gb_per_s));
    s.pcie_gb_per_s = *facts.pcie_gb_per_s;
  }
  const bool nvlink = s.inside != Inside::kAlone && s.inside != Inside::kPcie;
  if (nvlink && (!facts.links_per_gpu || !facts.link_gb_per_s))
    return cannot({ProblemCode::kMissing, "links_per_gpu"}, "the NVLinks of a GPU are missing");
  if (nvlink && (!is_rate(*facts.link_gb_per_s) || *facts.links_per_gpu < 1 ||
                 *facts.links_per_gpu > kMaxParts))
    return cannot({ProblemCode::kInvalid,
                   is_rate(*facts.link_gb_per_s) ? "links_per_gpu" : "link_gbytes_dir"},
                  fmt::format("no GPU has {} NVLinks of {} GB/s", *facts.links_per_gpu,
                              *facts.link_gb_per_s));
  s.nvlinks = nvlink ? static_cast<int>(*facts.links_per_gpu) : 0;
  s.nvlink_gb_per_s = nvlink ? *facts.link_gb_per_s : 0;
  // `links_per_gpu` is that of the whole machine. NCCL removes GPUs that do not take part, and the
  // NVLinks to them.
  constexpr int kGpusOfPairs = 4;
  if (s.inside == Inside::kPairs && !bridged && s.gpus < kGpusOfPairs)
    s.nvlinks = s.nvlinks * (s.gpus - 1) / (kGpusOfPairs - 1);
  if (facts.nics_per_node > kMaxParts)
    return cannot({ProblemCode::kTooLarge, "nics_per_node"},
                  fmt::format("{} network cards in a node", facts.nics_per_node));
  if (gpu->model == GpuModel::kGb200 && s.inside == Inside::kNvswitch) {
    s.nics = static_cast<int>(facts.nics_per_node);
    join_racks(s);
  } else {
    s.nics = static_cast<int>(facts.nics_per_node);
  }
  if (s.nodes > 1) {
    const auto transport = transport_of(facts.nic_type);
    if (!transport)
      return cannot({ProblemCode::kUnsupported, "nic_type"},
                    fmt::format("nic_type \"{}\" in the record of --meta is not a known network",
                                facts.nic_type));
    if (facts.nics_per_node < 1 || !facts.nic_gbps)
      return cannot({ProblemCode::kMissing, "nics_per_node"},
                    "the network cards of a node or their rate are missing");
    if (!is_rate(*facts.nic_gbps) || s.nics < 1)
      return cannot({ProblemCode::kInvalid, s.nics < 1 ? "nics_per_node" : "nic_gbps"},
                    fmt::format("a node cannot have {} network cards of {} Gb/s",
                                facts.nics_per_node, *facts.nic_gbps));
    s.transport = nccl::at_gpus(*transport, s.generation);
    s.matching = matching_of(facts);
    s.nic_gb_per_s = *facts.nic_gbps / 8;
    s.devices_per_card = static_cast<int>(facts.devices_per_card);
    if (!facts.ofi_plugin.empty()) {
      const auto release = nccl::parse_ofi_plugin(facts.ofi_plugin);
      if (!release)
        return cannot({ProblemCode::kInvalid, "ofi_plugin"},
                      release.error().problems().front().text);
      s.ofi_plugin = *release;
    }
    // NCCL_COLLNET_ENABLE=1 is not sufficient, because many records list it although their switches
    // cannot reduce.
    s.collnet = has(facts.nic_type, "SHARP");
    if (const std::string why = nccl::why_no_sharp(s); s.collnet && !why.empty())
      return cannot({ProblemCode::kUnsupported, "nic_type"}, why);
  }
  made.version = gpu->usual_version;
  if (facts.version.empty()) {
    made.assumed.push_back("NCCL " + to_string(made.version));
  } else {
    const auto version = nccl::parse_version(facts.version);
    if (!version) {
      const Problem& problem = version.error().problems().front();
      return cannot({problem.kind.code, "nccl_version"}, problem.text);
    }
    made.version = *version;
  }
  std::vector<std::string> passed_over;
  const auto settings = nccl::read_settings(facts.env, made.version, &passed_over);
  if (!settings) return tl::make_unexpected(settings.error());
  made.settings = *settings;
  for (const auto& [name, on] : {std::pair("NCCL_P2P_DISABLE", settings->p2p_disabled),
                                 std::pair("NCCL_SHM_DISABLE", settings->shm_disabled)}) {
    if (on.value_or(false))
      return cannot({ProblemCode::kUnsupported, name},
                    fmt::format("with {}=1, the paths between GPUs are not modelled", name));
  }
  const std::string level = settings->gdr_level.value_or("");
  s.gpudirect = !level.starts_with("0") && !level.starts_with("LOC");
  if (settings->ib_disabled.value_or(false)) s.transport = Transport::kTcp;
  if (s.nodes > 1 && is_efa(s.transport) && !s.ofi_plugin)
    made.assumed.push_back("aws-ofi-nccl " +
                           to_string(nccl::usual_ofi_plugin(made.version, s.transport)));
  nccl::see_network(s, made.version, made.settings);
  return made;
}

}  // namespace tutti::core
