#include "core/advice/comparable.h"

#include <fmt/format.h>

#include "core/advice/extrapolation.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/algorithm_table.h"
#include "core/strategy/collective_parts.h"

namespace tutti::core {
namespace {

void add_pack(const Scenario& scenario, const Pack& pack, KnownTimes links, DataMovers& travel) {
  const Collective& collective = scenario.plan.collective(pack);
  const AlgorithmTraits& algorithm = traits(strategy_of(scenario.strategy, pack).algorithm);
  const bool whole = algorithm.nccl == NcclPart::kAll;
  const bool inside = algorithm.uses_nccl() || collective.parts != nullptr;
  if (scenario.cluster->workers() > 1) {
    DataMovers::Part& part = travel.across;
    (whole ? part.nccl : part.messages) = true;
    if (whole && !collective.nccl) part.nccl_times = links;
    if (whole && collective.nccl && !collective.nccl->assumed_network.empty()) {
      part.nccl_times = KnownTimes::kAssumed;
      travel.assumed_network = collective.nccl->assumed_network;
    }
    const bool hosts = scenario.cluster->network() && scenario.cluster->network()->host.has_value();
    part.message_times = hosts && links == KnownTimes::kLinks ? KnownTimes::kPriors : links;
  }
  if (scenario.cluster->replicas_per_worker() > 1) {
    DataMovers::Part& part = travel.inside;
    (inside ? part.nccl : part.messages) = true;
    if (inside && nccl_times(collective).empty()) part.nccl_times = links;
    part.message_times = links;
  }
}

std::string why_not(const DataMovers::Part& now, const DataMovers::Part& other,
                    const std::string& where, const std::string& network) {
  const std::string assumed = fmt::format(
      "NCCL's parameters for {} are assumed, because no measurements were available for a fit",
      network.empty() ? "this network" : network);
  std::string why;
  const auto add = [&](const std::string& reason) { why += (why.empty() ? "" : "; ") + reason; };
  const bool nccl_changes = now.nccl != other.nccl;
  const KnownTimes nccl_times = now.nccl ? now.nccl_times : other.nccl_times;
  if (nccl_changes && nccl_times == KnownTimes::kAssumed) add(assumed);
  if (other.nccl && !now.nccl && nccl_times == KnownTimes::kLinks)
    add(
        fmt::format("Tutti has no measured NCCL times for this system; {} the prediction uses the "
                    "data-sheet rates of the links",
                    where));
  if (other.messages && !now.messages && other.message_times == KnownTimes::kPriors)
    add(
        fmt::format("{} the host overhead per message was measured on other machines and is "
                    "accurate only within a factor of two",
                    where));
  if (other.messages && !now.messages && other.message_times == KnownTimes::kLinks)
    add(
        fmt::format("{} messages are simulated at the full rate of the links, because the overhead "
                    "of the sending program was not measured on this cluster",
                    where));
  return why;
}

}  // namespace

DataMovers data_movers_of(const Scenario& scenario) {
  DataMovers travel;
  const KnownTimes links = is_calibrated(scenario) ? KnownTimes::kMeasured : KnownTimes::kLinks;
  for (const Pack& pack : scenario.plan.packs) {
    if (scenario.plan.collective(pack).group.size() > 1) add_pack(scenario, pack, links, travel);
  }
  return travel;
}

bool same_data_movers(const DataMovers& a, const DataMovers& b) {
  const auto same = [](const DataMovers::Part& one, const DataMovers::Part& other) {
    return one.nccl == other.nccl && one.messages == other.messages;
  };
  return same(a.across, b.across) && same(a.inside, b.inside);
}

std::string why_not_comparable(const DataMovers& now, const DataMovers& other) {
  const std::string& network =
      now.assumed_network.empty() ? other.assumed_network : now.assumed_network;
  std::string why = why_not(now.across, other.across, "between workers", network);
  if (why.empty()) why = why_not(now.inside, other.inside, "inside workers", "");
  return why;
}

}  // namespace tutti::core
