#include "tests/core/nccl/golden.h"

#include <array>
#include <stdexcept>

#include "core/base/file.h"
#include "tests/support/clusters.h"

namespace tutti::test {
namespace {

using core::nccl::PathType;

PathType path_type(const std::string& name) {
  constexpr std::array kNames = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                 "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<PathType>(i);
  }
  throw std::runtime_error("no path type " + name);
}

core::nccl::Graph graph(const Data& one) {
  core::nccl::Graph graph;
  graph.pattern = static_cast<core::nccl::Pattern>(one["pattern"].number());
  graph.cross_nic = static_cast<int>(one["crossNic"].number());
  graph.channels = static_cast<int>(one["nChannels"].number());
  graph.bw_intra = static_cast<float>(one["bwIntra"].real());
  graph.bw_inter = static_cast<float>(one["bwInter"].real());
  graph.latency_inter = static_cast<float>(one["latencyInter"].real());
  graph.type_intra = path_type(one["typeIntra"].text());
  graph.type_inter = path_type(one["typeInter"].text());
  graph.same_channels = one["sameChannels"].number() != 0;
  for (const Data& channel : one["channels"].items()) {
    graph.orders.push_back({channel["gpus"].ints(), channel.has("net")
                                                        ? channel["net"].numbers()
                                                        : std::vector<std::int64_t>()});
  }
  return graph;
}

}  // namespace

std::vector<Data> nccl_cases() {
  static const core::Value kAll = [] {
    const std::string path = source_folder() + "/tests/reference/nccl/golden-2.28.9.json";
    const auto text = core::read_text_file(path);
    if (!text) throw std::runtime_error(text.error().message());
    return parse_or_throw(*text, path);
  }();
  return Data(kAll)["cases"].items();
}

Data nccl_case(const std::string& name) {
  for (const Data& one : nccl_cases()) {
    if (one["case"].text() == name) return one;
  }
  throw std::runtime_error("no case " + name);
}

core::nccl::Communicator communicator_of(const Data& one) {
  core::nccl::Communicator comm;
  comm.ranks = static_cast<int>(one["nRanks"].number());
  comm.nodes = static_cast<int>(one["nNodes"].number());
  comm.compute_capability = comm.max_compute_capability = static_cast<int>(one["sm"].number());
  const auto vendor = one["cpuVendor"].number();
  comm.cpu = one["cpuArch"].number() != 1 ? core::nccl::HostCpu::kArm
             : vendor == 2                ? core::nccl::HostCpu::kAmd
                                          : core::nccl::HostCpu::kIntel;
  comm.nvswitch = one["nvs"].number() > 0;
  comm.nvls_channels = static_cast<int>(one["nvlsChannels"].number());
  comm.nvls = comm.nvls_channels > 0;
  comm.channels = static_cast<int>(one["nChannels"].number());
  const Data graphs = one["graphs"];
  comm.graphs.ring = graph(graphs["ring"]);
  comm.graphs.tree = graph(graphs["tree"]);
  comm.graphs.nvls = graph(graphs["nvls"]);
  return comm;
}

}  // namespace tutti::test
