#pragma once

// Schedules for a fabric: the bandwidth optimum, and candidates from few rounds to full bandwidth.

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
  int root = 0;  ///< the root, for collectives that have one
  Bytes bytes;   ///< size of the whole buffer
};

/// True for the collectives that are synthesized.
bool can_synthesize(CollectiveKind kind);
/// "all_gather, reduce_scatter, …".
std::string synthesized_collectives();

/// A schedule that was found: a forest, or an exchange.
struct Candidate {
  std::string name;              ///< for example "3 trees per rank, 7 levels"
  std::optional<Forest> forest;  ///< a forest of the fabric; if the collective only reduces, of the
                                 ///< reversed fabric
  std::optional<Exchange> exchange;  ///< set if the candidate is not a forest
  double busiest_link = 0;     ///< for forests: time of the busiest link divided by the bandwidth
                               ///< bound
  std::int64_t off_route = 0;  ///< for forests: number of units that use other links than planned
};

/// The text of a candidate in the language for algorithms.
std::string text_of(const Candidate& candidate, CollectiveKind kind, const TextOptions& options);

/// The least time that the bandwidth of the fabric allows. For an all-reduce: the sum of a
/// reduce-scatter and an all-gather, as ForestColl counts. Both at the same time can be faster
/// where links are unequal, because each uses the direction of a link that the other needs less.
struct BandwidthBound {
  Time time;
  Ratio per_part;            ///< in the unit of Optimum::time
  std::vector<bool> inside;  ///< by node: true if it is inside the narrowest cut
  bool by_cut = true;        ///< false: routes deliver less than the cuts allow (delivery.h)
};
/// nullopt if the fabric does not join all ranks.
std::optional<BandwidthBound> bandwidth_bound(const FabricGraph& graph, const Task& task);

/// Finds candidates and hands each out as soon as it is known: first those of few rounds, then
/// forests from few to many trees. Returns false if `go_on` stopped it before the last.
/// REQUIRES: can_synthesize(task.kind), `graph` joins all ranks and has routes.
/// Cost: polynomial; a tenth of a second for 8 GPUs, half a minute for 128.
bool find_candidates(const FabricGraph& graph, const Task& task, const GoOn& go_on,
                     const std::function<void(Candidate)>& found);

}  // namespace tutti::core::synthesis
