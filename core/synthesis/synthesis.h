#pragma once

// Synthesis of schedules for a fabric: computes the bandwidth bound of a collective, and finds
// candidates that range from few rounds (for small data) to full bandwidth (for large data).

#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/schedule/contract.h"
#include "core/synthesis/exchange_text.h"
#include "core/synthesis/forest.h"
#include "core/synthesis/progress.h"
#include "core/synthesis/switch_sums.h"

namespace tutti::core::synthesis {

struct Task {
  CollectiveKind kind = CollectiveKind::kAllGather;
  int root = 0;  ///< root of the collective, if its kind has a root
  Bytes bytes;   ///< size of the collective's buffer
};

/// True for the collectives that synthesis supports.
bool can_synthesize(CollectiveKind kind);
/// Returns the names of the collectives that synthesis supports: "all_gather, reduce_scatter, …".
std::string synthesized_collectives();

/// A schedule found by synthesis: a forest, an exchange, or an all-reduce with sums in switches.
struct Candidate {
  std::string name;              ///< name, for example "3 trees per rank, 7 levels"
  std::optional<Forest> forest;  ///< forest of the fabric; for collectives that only reduce, a
                                 ///< forest of the reversed fabric
  std::optional<Exchange> exchange;
  std::optional<SwitchSums> switch_sums;
  double busiest_link = 0;     ///< only for forests: time of the busiest link divided by the
                               ///< bandwidth bound
  std::int64_t off_route = 0;  ///< only for forests: see RankGraph::off_route
};

/// Returns a candidate as a text in Tutti's language for algorithms.
std::string text_of(const Candidate& candidate, CollectiveKind kind, const TextOptions& options);

/// A lower bound on the time of a collective, which follows from the bandwidths of the fabric. The
/// bound of an all-reduce is the sum of the bounds of a reduce-scatter and an all-gather, as in
/// ForestColl. An all-reduce can be faster than this sum if it runs the reduce-scatter and the
/// all-gather at the same time, and if the two directions of links have unequal loads.
struct BandwidthBound {
  Time time;
  Ratio per_part;            ///< time in the unit of Optimum::time
  std::vector<bool> inside;  ///< true for the nodes of the set that determines the bound
                             ///< (Optimum::cut)
  bool by_cut = true;        ///< true: the bound follows from a cut; false: fixed routes give a
                             ///< larger bound (delivery.h)
};
/// Returns nullopt if the fabric does not connect all ranks.
std::optional<BandwidthBound> bandwidth_bound(const FabricGraph& graph, const Task& task);

/// Returns the lower bound on the time of an all-reduce if the switches of the nodes may reduce and
/// multicast. Every rank and every node has to send and to receive every byte once. Between nodes,
/// nothing reduces, so all N nodes together send at least 2 (N - 1) times the buffer. Returns
/// nullopt if the switches do not reduce. Also returns nullopt for collectives other than the
/// all-reduce. For these collectives, bandwidth_bound() is a lower bound even if switches reduce
/// and multicast, because its cuts count copies and sums of the same data only once.
std::optional<Time> bound_with_switches(const FabricGraph& graph, const Task& task);

/// Finds candidates and calls `found` for each as soon as it is known. Candidates with few rounds
/// come first, then forests with few to many trees. Returns false if `go_on` stopped the search.
/// REQUIRES: can_synthesize(task.kind); `graph` connects all ranks and has routes.
/// Cost: polynomial in the size of the graph; about a tenth of a second for 8 GPUs, and half a
/// minute for 128 GPUs.
bool find_candidates(const FabricGraph& graph, const Task& task, const GoOn& go_on,
                     const std::function<void(Candidate)>& found);

}  // namespace tutti::core::synthesis
