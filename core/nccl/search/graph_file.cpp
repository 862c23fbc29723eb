#include "core/nccl/search/graph_file.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/xml_text.h"

namespace tutti::core::nccl {

namespace {

constexpr float kMaxGbPerS = 1e6F;
constexpr std::int64_t kMaxId = std::numeric_limits<std::int64_t>::max();

class GraphReader {
 public:
  GraphReader(const XmlText& xml, Problems& problems) : xml_(xml), problems_(problems) {}

  std::vector<Graph> read() {
    std::vector<Graph> graphs;
    std::set<int> ids;
    for (const pugi::xml_node& element : xml_.root().children("graph")) {
      const auto graph = read_graph(element);
      if (!graph) continue;
      if (!ids.insert(graph->id).second)
        problems_.add({ProblemCode::kDuplicate, "graph.id"}, xml_.where(element),
                      "<graph id=\"{}\"> is listed twice", graph->id);
      graphs.push_back(*graph);
    }
    if (graphs.empty() && problems_.empty())
      problems_.add({ProblemCode::kMissing, "graph"}, xml_.where(xml_.root()),
                    "the file has no <graph>");
    if (problems_.empty()) number(graphs);
    return graphs;
  }

 private:
  std::optional<Graph> read_graph(const pugi::xml_node& element);
  std::optional<PathType> type(const pugi::xml_node& element, const char* attribute);
  void read_channel(const pugi::xml_node& element, Graph& graph);
  void number(std::vector<Graph>& graphs) const;

  const XmlText& xml_;
  Problems& problems_;
  std::map<std::int64_t, int> gpus_;  ///< for each GPU's number in the file: the index of the GPU
  /// For each graph and channel: the channel's GPU numbers in the file.
  std::vector<std::vector<std::vector<std::int64_t>>> orders_;
};

std::optional<PathType> GraphReader::type(const pugi::xml_node& element, const char* attribute) {
  const auto written = xml_.text(element, attribute, problems_);
  if (!written) return std::nullopt;
  const auto type = path_type(*written);
  if (!type)
    problems_.add({ProblemCode::kUnknownName, fmt::format("graph.{}", attribute)},
                  xml_.where(element),
                  "<graph {}=\"{}\">: expected LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS, "
                  "NET or DIS",
                  attribute, *written);
  return type;
}

std::optional<Graph> GraphReader::read_graph(const pugi::xml_node& element) {
  const std::size_t before = problems_.size();
  const auto id = xml_.integer(element, "id", 0, 4, problems_);
  const auto pattern = xml_.integer(element, "pattern", 1, 6, problems_);
  const auto cross_nic = xml_.integer(element, "crossnic", 0, 2, problems_);
  const auto channels = xml_.integer(element, "nchannels", 0, kMaxChannels, problems_);
  const auto intra = xml_.real(element, "speedintra", 0, kMaxGbPerS, std::nullopt, problems_);
  const auto inter = xml_.real(element, "speedinter", 0, kMaxGbPerS, std::nullopt, problems_);
  const auto latency =
      xml_.real(element, "latencyinter", 0, 1e9F, 0.0F, problems_);  // written by 2.12 and later
  const auto type_intra = type(element, "typeintra");
  const auto type_inter = type(element, "typeinter");
  const auto same = xml_.integer(element, "samechannels", 0, 1, problems_);
  if (problems_.size() != before) return std::nullopt;
  Graph graph{.id = static_cast<int>(*id),
              .pattern = static_cast<Pattern>(*pattern),
              .cross_nic = static_cast<int>(*cross_nic),
              .channels = static_cast<int>(*channels),
              .bw_intra = *intra,
              .bw_inter = *inter,
              .latency_inter = *latency,
              .type_intra = *type_intra,
              .type_inter = *type_inter,
              .same_channels = *same == 1,
              .orders = {}};
  orders_.emplace_back();
  for (const pugi::xml_node& channel : element.children("channel")) read_channel(channel, graph);
  if (graph.orders.size() != static_cast<std::size_t>(graph.channels))
    problems_.add({ProblemCode::kConflict, "graph.nchannels"}, xml_.where(element),
                  "<graph nchannels=\"{}\">: {} channels follow", graph.channels,
                  graph.orders.size());
  return graph;
}

void GraphReader::read_channel(const pugi::xml_node& element, Graph& graph) {
  GraphChannel channel;
  std::vector<std::int64_t> gpus;
  for (const pugi::xml_node& end : element.children()) {
    const std::string_view name = end.name();
    if (name != "gpu" && name != "net") continue;
    // NCCL 2.21 and later write the numbers of network devices in hexadecimal ("0x…"), because the
    // numbers include the host. Releases before 2.21 write decimal numbers. -1 means that no
    // network card was found.
    const char* attribute = end.attribute("dev") ? "dev" : "rank";
    const auto number = xml_.integer(end, attribute, name == "net" ? -1 : 0, kMaxId, problems_);
    if (!number) continue;
    if (name == "net") {
      if (*number >= 0) channel.nets.push_back(*number);
      continue;
    }
    if (std::find(gpus.begin(), gpus.end(), *number) != gpus.end())
      problems_.add({ProblemCode::kDuplicate, fmt::format("gpu.{}", attribute)}, xml_.where(end),
                    "<gpu {}=\"{}\"> is listed twice in this channel", attribute, *number);
    gpus.push_back(*number);
    gpus_[*number] = 0;
  }
  if (gpus.empty())
    problems_.add({ProblemCode::kMissing, "gpu"}, xml_.where(element), "a channel without a <gpu>");
  if (channel.nets.size() > 2)
    problems_.add({ProblemCode::kConflict, "net"}, xml_.where(element),
                  "{} <net> in a channel: expected two or none", channel.nets.size());
  orders_.back().push_back(std::move(gpus));
  graph.orders.push_back(std::move(channel));
}

void GraphReader::number(std::vector<Graph>& graphs) const {
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    for (std::size_t c = 0; c < graphs[g].orders.size(); ++c) {
      for (const std::int64_t written : orders_[g][c])
        graphs[g].orders[c].gpus.push_back(
            static_cast<int>(std::distance(gpus_.begin(), gpus_.find(written))));
    }
  }
}

}  // namespace

Expected<std::vector<Graph>> read_graphs(std::string_view text, const std::string& file) {
  const auto xml = XmlText::parse(text, file, "graphs");
  if (!xml) return tl::unexpected(xml.error());
  Problems problems;
  std::vector<Graph> graphs = GraphReader(*xml, problems).read();
  if (!problems.empty()) return problems.take();
  return graphs;
}

Expected<std::vector<Graph>> load_graphs(const std::string& path) {
  const auto text = read_text_file(path, TextSource::kAnything);
  if (!text) return tl::unexpected(text.error());
  return read_graphs(*text, path);
}

std::string write_graphs(std::span<const Graph> graphs, const Topology& node) {
  std::map<int, std::int64_t> devices;  // by rank: host and device number
  for (const int g : node.all(NodeKind::kGpu)) {
    const TopologyNode& gpu = node.nodes[g];
    devices[gpu.gpu.rank] = (static_cast<std::int64_t>(gpu.host) << 56) + gpu.gpu.dev;
  }
  std::string text = "<graphs version=\"1\">\n";
  const auto add = [&text](const char* what, std::int64_t id) {
    text += fmt::format("      <{} dev=\"{}\"/>\n", what, id == 0 ? "0" : fmt::format("{:#x}", id));
  };
  for (const Graph& graph : graphs) {
    text += fmt::format(
        "  <graph id=\"{}\" pattern=\"{}\" crossnic=\"{}\" nchannels=\"{}\" speedintra=\"{:g}\" "
        "speedinter=\"{:g}\" "
        "latencyinter=\"{:g}\" typeintra=\"{}\" typeinter=\"{}\" samechannels=\"{}\"",
        graph.id, static_cast<int>(graph.pattern), graph.cross_nic, graph.channels, graph.bw_intra,
        graph.bw_inter, graph.latency_inter, to_string(graph.type_intra),
        to_string(graph.type_inter), graph.same_channels ? 1 : 0);
    text += graph.orders.empty() ? "/>\n" : ">\n";
    for (const GraphChannel& channel : graph.orders) {
      text += "    <channel>\n";
      if (!channel.nets.empty()) add("net", channel.nets.front());
      for (const int gpu : channel.gpus) add("gpu", devices[gpu]);
      if (!channel.nets.empty()) add("net", channel.nets.back());
      text += "    </channel>\n";
    }
    if (!graph.orders.empty()) text += "  </graph>\n";
  }
  return text + "</graphs>\n";
}

}  // namespace tutti::core::nccl
