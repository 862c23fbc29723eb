#pragma once

// Synthesis of schedules for a fabric: computes the bandwidth bound, and finds candidates that
// range from few rounds to full bandwidth.

#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/schedule/contract.h"
#include "core/synthesis/exchange_text.h"
#include "core/synthesis/forest.h"
#include "core/synthesis/progress.h"

namespace tutti::core::synthesis {

struct Task {
  CollectiveKind kind = CollectiveKind::kAllGather;
  int root = 0;  ///< root, for collectives with a root
  Bytes bytes;   ///< size of the whole buffer
};

/// True for the collectives that synthesis supports.
bool can_synthesize(CollectiveKind kind);
/// Returns the names of these collectives: "all_gather, reduce_scatter, …".
std::string synthesized_collectives();

/// A schedule that was found, which is a forest or an exchange.
struct Candidate {
  std::string name;              ///< for example "3 trees per rank, 7 levels"
  std::optional<Forest> forest;  ///< forest of the fabric; for collectives that only reduce, forest
                                 ///< of the reversed fabric
  std::optional<Exchange> exchange;  ///< set if there is no forest
  double busiest_link = 0;     ///< for forests: time of the busiest link relative to the bandwidth
                               ///< bound
  std::int64_t off_route = 0;  ///< for forests: see RankGraph::off_route
};

/// Returns a candidate as a text in Tutti's language for algorithms.
std::string text_of(const Candidate& candidate, CollectiveKind kind, const TextOptions& options);

/// The lower bound on the time of a collective that follows from the bandwidths of the fabric. For
/// an all-reduce, the bound is the sum of the bounds of a reduce-scatter and an all-gather, as in
/// ForestColl. An all-reduce that runs both at the same time can be faster if the directions of
/// links are loaded unequally.
struct BandwidthBound {
  Time time;
  Ratio per_part;            ///< the time in the unit of Optimum::time
  std::vector<bool> inside;  ///< by node: true if it is in the set that gives the bound
                             ///< (Optimum::cut)
  bool by_cut = true;        ///< false: fixed routes give a longer time than cuts (delivery.h)
};
/// Returns nullopt if the fabric does not join all ranks.
std::optional<BandwidthBound> bandwidth_bound(const FabricGraph& graph, const Task& task);

/// Finds candidates and calls `found` for each as soon as it is known: first those with few rounds,
/// then forests from few to many trees. Returns false if `go_on` stopped the search.
/// REQUIRES: can_synthesize(task.kind); `graph` joins all ranks and has routes.
/// Cost: polynomial; about a tenth of a second for 8 GPUs, and half a minute for 128.
bool find_candidates(const FabricGraph& graph, const Task& task, const GoOn& go_on,
                     const std::function<void(Candidate)>& found);

}  // namespace tutti::core::synthesis
