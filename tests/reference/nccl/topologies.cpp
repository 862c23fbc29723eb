#include "tests/reference/nccl/topologies.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "core/base/file.h"
#include "core/nccl/topology/topology_file.h"
#include "tests/support/clusters.h"

namespace tutti::test {

namespace {

std::string folder() { return source_folder() + "/tests/reference/nccl"; }

std::string text_of(const std::string& path) {
  const auto text = core::read_text_file(path);
  if (!text) throw std::runtime_error(text.error().message());
  return *text;
}

}  // namespace

std::string topology_text(const std::string& name) {
  return text_of(folder() + "/topologies/" + name + ".xml");
}

core::nccl::Topology topology_of(const std::string& text) {
  const auto topology = core::nccl::read_topology(text, "test.xml");
  if (!topology) throw std::runtime_error(topology.error().message());
  return *topology;
}

core::nccl::Topology topology(const std::string& name) { return topology_of(topology_text(name)); }

core::nccl::Topology first_gpus(const core::nccl::Topology& topology, int gpus) {
  std::vector<int> ranks(static_cast<std::size_t>(gpus));
  std::iota(ranks.begin(), ranks.end(), 0);
  return core::nccl::with_ranks(topology, ranks);
}

std::vector<std::string> topology_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/topologies"))
    if (entry.path().extension() == ".xml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti::test
