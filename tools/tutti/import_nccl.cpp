// A topology file of NCCL describes one machine. The command converts the file to the cluster of a
// scenario. With --graphs, the command runs NCCL's graph search on the topology and prints the
// graphs.
// The option --against compares the graphs with a dump of NCCL. A topology has links but no rates
// of memory and arithmetic, so these are taken from a machine with the same GPUs. The new cluster
// is read back as part of a small scenario before it is written, so that an invalid cluster is
// reported and never written. The reader of topology files and the search are in core/nccl.

#include "tools/tutti/import_nccl.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/cluster_text.h"
#include "core/nccl/point_to_point.h"
#include "core/nccl/search/graph_file.h"
#include "core/nccl/search/search.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/topology/topology_file.h"
#include "core/scenario/scenario.h"
#include "core/text/report.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::ProblemCode;
using core::Report;
using core::nccl::Graph;
using core::nccl::GraphChannel;
using core::nccl::NodeKind;
using core::nccl::SearchResult;
using core::nccl::SearchSettings;
using core::nccl::Topology;

constexpr std::int64_t kMaxNodes = 10'000'000;

struct NamedGraph {
  const char* name;
  const Graph& graph;
};
/// Returns the graphs in the order in which NCCL writes them.
std::vector<NamedGraph> all(const core::nccl::Graphs& g) {
  return {{"ring", g.ring},
          {"tree", g.tree},
          {"collnet_direct", g.collnet_direct},
          {"collnet_chain", g.collnet_chain},
          {"nvls", g.nvls}};
}

std::string pattern_name(core::nccl::Pattern pattern) {
  using core::nccl::Pattern;
  switch (pattern) {
    case Pattern::kBalancedTree: return "balanced tree";
    case Pattern::kSplitTree: return "split tree";
    case Pattern::kTree: return "tree";
    case Pattern::kRing: return "ring";
    case Pattern::kNvls: return "nvls";
    case Pattern::kCollnetDirect: return "collnet direct";
  }
  return "?";
}

/// Returns a text with the order of a channel's GPUs, such as "0 1 2 3". If the graph spans several
/// nodes, the text begins and ends with a network card: "NET 0 → 0 1 2 3 → NET 1".
std::string channel_text(const GraphChannel& channel, bool heads) {
  const std::string gpus = fmt::format("{}", fmt::join(channel.gpus, " "));
  if (channel.nets.size() < 2) return gpus;
  const auto net = [](std::int64_t id) {
    const std::int64_t host = id >> 56, dev = id & 0xffffffffffffff;
    return host == 0 ? fmt::format("NET {}", dev) : fmt::format("NET {}-{}", host, dev);
  };
  if (heads) return fmt::format("{} by {}", gpus, net(channel.nets[0]));
  return fmt::format("{} → {} → {}", net(channel.nets[0]), gpus, net(channel.nets[1]));
}

/// The number of thread blocks (channels) for each kind of operation.
struct Channels {
  int collectives = 0, nvls = 0;
  core::nccl::PointToPoint p2p;
};

core::Expected<Channels> channels_of(const Topology& topology, const SearchResult& found,
                                     std::int64_t nodes, const SearchSettings& settings) {
  core::nccl::Settings variables;
  variables.net_intra_disabled = !settings.net_inside;
  const auto communicator = communicator_of(topology, found, nodes, variables);
  if (!communicator) return failed(communicator);
  return Channels{
      communicator->channels, communicator->nvls_channels,
      point_to_point(found.node, settings, communicator->ranks, communicator->channels)};
}

std::string graphs_text(const SearchResult& found, const Channels& channels,
                        const std::string& file, std::int64_t nodes) {
  std::string text = fmt::format(
      "{}: {} × {} GPUs of compute capability {}.{}; graphs that the search of NCCL 2.28.9 finds\n",
      file, nodes * found.nodes_per_topology, found.node.count(NodeKind::kGpu),
      found.node.min_sm() / 10, found.node.min_sm() % 10);
  if (found.nodes_per_topology > 1)
    text += fmt::format(
        "  NCCL treats each machine as {} nodes, because a machine's network cards are faster than "
        "the links between the machine's GPUs\n",
        found.nodes_per_topology);
  text += fmt::format(
      "  the maximum bandwidth is {:g} GB/s per path, and {:g} GB/s for all links of a GPU "
      "together\n",
      found.most_gb_per_s, found.total_gb_per_s);
  text += fmt::format(
      "  channels: {} for collectives, {} for NVLS; {} for sends and receives (with each peer: "
      "{})\n\n",
      channels.collectives, channels.nvls, channels.p2p.channels, channels.p2p.per_peer);
  Table table({"<  graph", "<pattern", "channels", "GB/s inside", "between", "<inside by",
               "<between by", "cross NIC", "latency us"});
  for (const auto& [name, graph] : all(found.graphs)) {
    if (graph.channels == 0) continue;
    table.row({fmt::format("  {}", name), pattern_name(graph.pattern),
               fmt::format("{}", graph.channels), fmt::format("{:g}", graph.bw_intra),
               fmt::format("{:g}", graph.bw_inter), std::string(to_string(graph.type_intra)),
               found.over_nodes ? std::string(to_string(graph.type_inter)) : "-",
               fmt::format("{}", graph.cross_nic), fmt::format("{:g}", graph.latency_inter)});
  }
  text += table.text(0);
  for (const auto& [name, graph] : all(found.graphs)) {
    if (graph.channels == 0) continue;
    const bool heads = graph.pattern == core::nccl::Pattern::kNvls;
    text += fmt::format("\n  {}{}\n", name, heads ? " (only the head GPUs of each channel)" : "");
    for (std::size_t c = 0; c < graph.orders.size();) {
      std::size_t end = c;
      const std::string line = channel_text(graph.orders[c], heads);
      while (end < graph.orders.size() && channel_text(graph.orders[end], heads) == line) ++end;
      text += end == c + 1 ? fmt::format("    {}: {}\n", c, line)
                           : fmt::format("    {} to {}: {}\n", c, end - 1, line);
      c = end;
    }
  }
  return text;
}

std::string graphs_json(const SearchResult& found, const Channels& channels, std::int64_t nodes) {
  const auto order = [](const GraphChannel& channel) {
    return Report{{"gpus", channel.gpus}, {"nets", channel.nets}};
  };
  const auto graph_report = [&](const NamedGraph& named) {
    const Graph& graph = named.graph;
    return Report{{"name", named.name},
                  {"id", graph.id},
                  {"pattern", static_cast<int>(graph.pattern)},
                  {"cross_nic", graph.cross_nic},
                  {"channels", graph.channels},
                  {"intra_gb_per_s", graph.bw_intra},
                  {"inter_gb_per_s", graph.bw_inter},
                  {"inter_latency_us", graph.latency_inter},
                  {"intra_type", to_string(graph.type_intra)},
                  {"inter_type", to_string(graph.type_inter)},
                  {"same_channels", graph.same_channels},
                  {"orders", core::list_of(graph.orders, order)}};
  };
  return result_json(Report{{"nodes", nodes * found.nodes_per_topology},
                            {"gpus_per_node", found.node.count(NodeKind::kGpu)},
                            {"compute_capability", found.node.min_sm()},
                            {"most_gb_per_s", found.most_gb_per_s},
                            {"total_gb_per_s", found.total_gb_per_s},
                            {"channels", channels.collectives},
                            {"nvls_channels", channels.nvls},
                            {"p2p_channels", channels.p2p.channels},
                            {"p2p_channels_per_peer", channels.p2p.per_peer},
                            {"graphs", core::list_of(all(found.graphs), graph_report)}});
}

/// Returns the differences from a graph of a dump, such as "8 channels, the dump has 16; …"; empty
/// if the graphs are equal.
std::string differences(const Graph& found, const Graph& dumped) {
  std::vector<std::string> all;
  const auto differ = [&all](const char* what, const auto& ours, const auto& theirs) {
    if (ours != theirs) all.push_back(fmt::format("{} {}, the dump has {}", what, ours, theirs));
  };
  const auto six_digits = [](float figure) { return fmt::format("{:g}", figure); };
  differ("pattern", pattern_name(found.pattern), pattern_name(dumped.pattern));
  differ("cross NIC", found.cross_nic, dumped.cross_nic);
  differ("channels", found.channels, dumped.channels);
  differ("GB/s inside", six_digits(found.bw_intra), six_digits(dumped.bw_intra));
  differ("GB/s between", six_digits(found.bw_inter), six_digits(dumped.bw_inter));
  differ("latency", six_digits(found.latency_inter), six_digits(dumped.latency_inter));
  differ("inside by", to_string(found.type_intra), to_string(dumped.type_intra));
  differ("between by", to_string(found.type_inter), to_string(dumped.type_inter));
  differ("same channels", found.same_channels, dumped.same_channels);
  for (std::size_t c = 0; c < std::min(found.orders.size(), dumped.orders.size()); ++c)
    differ(fmt::format("channel {}:", c).c_str(), channel_text(found.orders[c], false),
           channel_text(dumped.orders[c], false));
  return fmt::format("{}", fmt::join(all, "; "));
}

/// For each graph, reports whether the graph in the dump equals the graph that the search has
/// found. Returns kRunFailed if a graph differs.
int compare(const SearchResult& found, const std::string& path) {
  const auto dumped = core::nccl::load_graphs(path);
  if (!dumped) return report(dumped.error());
  std::string text = fmt::format("\n  against {}\n", path);
  bool same = true;
  for (const auto& [name, ours] : all(found.graphs)) {
    const auto theirs = std::find_if(dumped->begin(), dumped->end(),
                                     [id = ours.id](const Graph& graph) { return graph.id == id; });
    if (theirs == dumped->end()) {
      // NCCL omits the graphs that it could not build.
      if (ours.channels == 0) continue;
      same = false;
      text += fmt::format("    {}: the dump has no graph with id {}\n", name, ours.id);
      continue;
    }
    const std::string differing = differences(ours, *theirs);
    same = same && differing.empty();
    text += fmt::format("    {}: {}\n", name, differing.empty() ? "the same" : differing);
  }
  const int status = print_out(text);
  return status != kDone || same ? status : static_cast<int>(kRunFailed);
}

/// Writes `text` to the file, and prints a note.
int write(const std::string& path, const std::string& text,
          const ImportNcclTopologyOptions& options) {
  std::error_code ignored;
  if (!options.force && std::filesystem::exists(path, ignored))
    return report(Error::request({ProblemCode::kConflict, "-o"},
                                 "this file exists; --force overwrites it", {path, 0, 0}));
  if (const auto written = write_file(path, {options.file}, text); !written)
    return report(written.error());
  print_note(fmt::format("written: {}\n", path));
  return kDone;
}

core::Expected<Topology> load(const ImportNcclTopologyOptions& options) {
  auto topology = core::nccl::load_topology(options.file);
  if (!topology) return topology;
  for (const core::Problem& note : topology->notes)
    print_note(fmt::format("note: {}\n", core::to_string(note)));
  const int gpus = topology->count(NodeKind::kGpu);
  if (options.gpus < 0 || options.gpus > gpus)
    return refused(out_of_range("--gpus", options.gpus, gpus),
                   "--gpus {}: expected 1 to {}, the number of GPUs in the file", options.gpus,
                   gpus);
  if (options.gpus == 0) return topology;
  std::vector<int> ranks(options.gpus);
  std::iota(ranks.begin(), ranks.end(), 0);
  return core::nccl::with_ranks(*topology, ranks);
}

/// NCCL's environment variables that affect the graphs: the settings of the search, and the graphs
/// of a given file, which replace the search.
struct Preferences {
  SearchSettings settings;
  std::vector<Graph> graphs;  ///< graphs of the file NCCL_GRAPH_FILE
};

core::Expected<Preferences> preferences_of(const std::vector<std::string>& written) {
  Preferences preferences;
  for (const std::string& one : written) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos)
      return refused({ProblemCode::kSyntax, "--set"},
                     "--set {}: expected NAME=VALUE, such as NCCL_CROSS_NIC=0", one);
    const std::string name = one.substr(0, equals), value = one.substr(equals + 1);
    if (name == "NCCL_GRAPH_FILE") {
      const auto graphs = core::nccl::load_graphs(value);
      if (!graphs) return failed(graphs);
      preferences.graphs = *graphs;
    } else if (const auto done = set(preferences.settings, name, value); !done) {
      return tl::unexpected(about("--set", done.error()));
    }
  }
  return preferences;
}

int report_graphs(const ImportNcclTopologyOptions& options, const Topology& topology,
                  const Preferences& preferences, Format format) {
  const auto found =
      search_graphs(topology, options.nodes, preferences.settings, preferences.graphs);
  if (!found) return report(found.error());
  if (!options.graph_file.empty()) {
    std::vector<Graph> graphs;
    for (const NamedGraph& named : all(found->graphs)) graphs.push_back(named.graph);
    if (const int status = write(options.graph_file, write_graphs(graphs, found->node), options);
        status != kDone)
      return status;
  }
  const auto channels = channels_of(topology, *found, options.nodes, preferences.settings);
  if (!channels) return report(channels.error());
  const std::string text = format == Format::kJson
                               ? graphs_json(*found, *channels, options.nodes)
                               : graphs_text(*found, *channels, options.file, options.nodes);
  const bool to_file = !options.output.empty() && options.output != "-";
  const int status = to_file ? write(options.output, text, options) : print_out(text);
  return status != kDone || options.against.empty() ? status : compare(*found, options.against);
}

core::Expected<std::string> cluster_of(const ImportNcclTopologyOptions& options,
                                       const Topology& topology, const SearchSettings& settings,
                                       const core::Library& library) {
  core::nccl::ClusterWords words;
  words.file = std::filesystem::path(options.file).filename().string();
  words.machine =
      options.name.empty() ? std::filesystem::path(options.file).stem().string() : options.name;
  words.nodes = options.nodes;
  words.link = options.link;
  words.devices = options.devices.empty() ? machine_with_gpus_of(topology) : options.devices;
  if (words.devices.empty()) {
    return refused(
        {ProblemCode::kMissing, "--devices"},
        "{}: no shipped machine has GPUs of compute capability {}.{}, and a topology does not "
        "state memory and arithmetic rates; name a similar machine with --devices ({})",
        options.file, topology.min_sm() / 10, topology.min_sm() % 10,
        fmt::join(library.names(core::Library::Kind::kMachine), ", "));
  }
  const auto path = library.find(core::Library::Kind::kMachine, words.devices, options.output);
  if (!path)
    return refused({ProblemCode::kUnknownName, "--devices"},
                   "--devices {}: there is no such machine{}", words.devices,
                   core::did_you_mean(words.devices, library.names(core::Library::Kind::kMachine)));
  const auto like = core::load_machine(*path);
  if (!like) return failed(like);
  auto text = cluster_text(topology, words, **like, settings);
  if (!text) return text;
  // Check that the output is a valid cluster, which also detects errors in the request.
  const auto scenario = core::read_scenario("cluster {\n" + *text +
                                                "}\nworkload { variable { name: \"a\" shape: 1 } "
                                                "update_ms: 0 } strategy { algorithm: \"ring\" }",
                                            "(the new cluster)", library);
  if (scenario) return text;
  std::vector<core::Problem> problems = scenario.error().problems();
  for (core::Problem& problem : problems) problem.where = core::Location();
  return tl::unexpected(Error(core::ErrorKind::kRequest, std::move(problems)));
}

}  // namespace

int import_nccl_topology(const ImportNcclTopologyOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.nodes < 1 || options.nodes > kMaxNodes)
    return refuse(out_of_range("--nodes", options.nodes, kMaxNodes), "--nodes {}: expected 1 to {}",
                  options.nodes, kMaxNodes);
  if (options.graphs &&
      (!options.name.empty() || !options.devices.empty() || !options.link.empty()))
    return refuse({ProblemCode::kConflict, "--graphs"},
                  "--name, --devices and --link describe a cluster, but --graphs does not write a "
                  "cluster; remove these options");
  if (!options.graphs && options.nodes == 1 && !options.link.empty())
    return refuse({ProblemCode::kUnused, "--link"},
                  "--link connects machines, but there is only one machine; set --nodes above 1");
  if (!options.against.empty() && (!options.graphs || *format == Format::kJson))
    return refuse({ProblemCode::kUnused, "--against"},
                  "--against compares the graphs that --graphs prints with a dump; add --graphs, "
                  "and remove --format json");
  const auto preferences = preferences_of(options.set);
  if (!preferences) return report(preferences.error());
  if (!options.graphs && !preferences->graphs.empty())
    return refuse({ProblemCode::kUnused, "--set"},
                  "--set NCCL_GRAPH_FILE: this variable sets NCCL's graphs, but a cluster file "
                  "states only rings; add --graphs, or remove this variable");
  const auto topology = load(options);
  if (!topology) return report(topology.error());
  if (options.graphs) return report_graphs(options, *topology, *preferences, *format);
  const auto text = cluster_of(options, *topology, preferences->settings, environment.library);
  if (!text) return report(text.error());
  // Do this last, so that --format json also applies to all other errors.
  if (!options.graphs && (*format == Format::kJson || !options.graph_file.empty()))
    return refuse(
        {ProblemCode::kUnused, options.graph_file.empty() ? "--format" : "--graph-file"},
        "--format json and --graph-file write the graphs that --graphs finds; add --graphs");
  if (options.output.empty() || options.output == "-") return print_out(*text);
  return write(options.output, *text, options);
}

}  // namespace tutti::tools
