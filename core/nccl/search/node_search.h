#pragma once

// The search for the graphs of one node. Only the code that searches the graphs of a communicator
// includes this header.

#include <cstdint>
#include <span>

#include "core/nccl/search/channel_search.h"
#include "core/nccl/search/graph.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/paths.h"
#include "core/nccl/topology/rates.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Searches the graphs of a communicator on the topology of one node. The searches for all patterns
/// use the same paths and rates.
class NodeSearch {
 public:
  NodeSearch(const Topology& topology, const SearchSettings& settings, bool over_nodes)
      : topology_(topology),
        settings_(settings),
        over_nodes_(over_nodes),
        paths_(topology, settings),
        walks_(topology, paths_, settings, over_nodes),
        gpus_(topology.count(NodeKind::kGpu)),
        sm_(topology.min_sm()),
        speeds_(channel_speeds(over_nodes, sm_)) {
    measure();
  }

  NodeSearch(const NodeSearch&) = delete;
  NodeSearch& operator=(const NodeSearch&) = delete;

  /// Returns the best graph of a pattern with the given minimum and maximum number of channels.
  /// If `collnet` is true, channels use only network ports that can reduce.
  Graph find(int id, Pattern pattern, bool collnet, int min_channels, int max_channels);

  [[nodiscard]] bool gave_up() const { return walks_.gave_up(); }
  [[nodiscard]] float most() const { return most_; }
  [[nodiscard]] float total() const { return total_; }

 private:
  /// The limits of the requirements that the search tries: path types inside a node and between
  /// nodes, crossing of network cards, and equal channels.
  struct Range {
    PathType min_intra = PathType::kLoc, max_intra = PathType::kSys;
    PathType min_inter = PathType::kPix, max_inter = PathType::kSys;
    int cross_nic = 0;
    bool same_channels = true;
  };

  void measure();
  [[nodiscard]] Range range(Pattern pattern) const;
  Trial search(Trial start, const Range& range);
  /// The remaining search steps: for one run of ChannelSearch, and in total for all runs of this
  /// search.
  struct StepsLeft {
    int of_walk = 0;
    std::int64_t& of_all;
  };
  bool relax(Trial& trial, const Trial& best, const Range& range, const StepsLeft& left,
             std::size_t& speed) const;
  bool improve(Trial& trial, const Trial& best, std::size_t& speed) const;
  void double_channels(Trial& graph) const;
  void fall_back(Trial& graph) const;
  [[nodiscard]] Graph made(int id, const Trial& found) const;

  const Topology& topology_;
  const SearchSettings& settings_;
  bool over_nodes_;
  Paths paths_;
  ChannelSearch walks_;
  int gpus_;
  int sm_;
  std::span<const float> speeds_;
  float most_ = 0, total_ = 0;
};

}  // namespace tutti::core::nccl
