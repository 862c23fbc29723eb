#include "sim/folding/folding.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "core/lowering/gates.h"
#include "core/strategy/collective_parts.h"
#include "sim/folding/folded_schedule.h"

namespace tutti::sim {
namespace {

using core::Cluster;
using core::Pack;
using core::Renumbering;
using core::Scenario;

/// Describes a difference between workers, other than a difference between their collectives. Empty
/// if there is none.
std::string difference(const Scenario& scenario) {
  const Cluster& cluster = *scenario.cluster;
  const core::Conditions& conditions = scenario.run.conditions;
  if (cluster.workers() == 1) return "there is one worker";
  if (scenario.plan.graph) return "each rank executes its own tasks of a trace";
  if (scenario.strategy.servers)
    return "the strategy uses servers, which differ from other workers";
  if (const core::PlanGate gate(scenario.plan); gate.any() && gate.scope() == core::GateScope::kAll)
    return "packs are fused at run time, in cycles";
  if (scenario.plan.partition)
    return "collectives run in groups of replicas, in which workers have different positions";
  if (cluster.groups().size() > 1) return "the cluster has several kinds of workers";
  if (!scenario.communicators.empty())
    return "communicators have groups in which workers have different positions";
  if (cluster.fabric()) return "workers are at different positions in the network's switches";
  if (scenario.run.compute_jitter_ppm != 0 ||
      conditions.compute_noise.kind != core::Noise::Kind::kNone)
    return "replicas compute at different speeds";
  if (!conditions.slow.empty()) return "some devices are slow";
  if (!conditions.gone.empty()) return "some workers are gone";
  if (!conditions.late.empty()) return "some hosts launch kernels late";
  if (!conditions.links.empty() || !conditions.background.empty())
    return "some links change or have background traffic";
  return "";
}

/// Returns the schedules whose messages travel between workers. For a collective with NCCL's
/// predicted time, returns the schedule that determines which links its data uses.
std::vector<std::shared_ptr<const core::Schedule>> simulated(const core::Collective& collective) {
  if (collective.nccl && collective.nccl_ways) return {collective.nccl_ways};
  const core::CollectiveParts* const parts = core::timed_parts(collective);
  if (!parts) return {collective.schedule};
  std::vector<std::shared_ptr<const core::Schedule>> all;
  for (const core::CollectivePart& part : parts->all) {
    if (!part.inside_workers) all.push_back(part.collective.schedule);
  }
  return all;
}

std::optional<Renumbering> identical_under(const Scenario& scenario) {
  const Cluster& cluster = *scenario.cluster;
  const std::int32_t per_worker = cluster.replicas_per_worker();
  const auto all_identical = [&](Renumbering by) {
    return std::all_of(
        scenario.plan.packs.begin(), scenario.plan.packs.end(), [&](const Pack& pack) {
          const auto all = simulated(scenario.plan.collective(pack));
          return std::all_of(all.begin(), all.end(),
                             [&](const auto& s) { return s->same_everywhere(by, per_worker); });
        });
  };
  if (all_identical(Renumbering::kShift)) return Renumbering::kShift;
  if (std::has_single_bit(static_cast<std::uint64_t>(cluster.workers())) &&
      all_identical(Renumbering::kExchange))
    return Renumbering::kExchange;
  return std::nullopt;
}

}  // namespace

Folding fold(const Scenario& scenario) {
  if (std::string why = difference(scenario); !why.empty()) return {nullptr, std::move(why)};
  const std::optional<Renumbering> by = identical_under(scenario);
  if (!by) {
    return {nullptr,
            "collectives differ between workers, because of their algorithm or because the "
            "elements of a pack cannot be divided by the ranks"};
  }
  const Cluster& all = *scenario.cluster;
  auto one = std::make_shared<Scenario>(scenario);
  one->cluster =
      std::make_shared<Cluster>(std::vector<core::WorkerGroup>{{all.groups().front().machine, 1}},
                                all.replicas_per_worker(), all.network());
  const auto fold_one = [&](core::Collective& collective) {
    const bool hosts = collective.schedule->ranks() > all.replicas();
    const auto& ways =
        collective.nccl && collective.nccl_ways ? collective.nccl_ways : collective.schedule;
    collective.schedule = folded(ways, *by, static_cast<std::int32_t>(all.workers()),
                                 static_cast<std::int32_t>(all.replicas_per_worker()));
    collective.nccl_ways = nullptr;
    collective.group = core::Group::of_cluster(*one->cluster, hosts);
    collective.contributors = all.replicas_per_worker();
  };
  for (core::PlannedCollective& planned : one->plan.collectives) {
    core::Collective& collective = planned.first;
    fold_one(collective);
    if (!core::timed_parts(collective)) continue;
    core::CollectiveParts parts = *collective.parts;
    parts.layout.workers = 1;
    for (core::CollectivePart& part : parts.all) {
      if (!part.inside_workers) {
        fold_one(part.collective);
      } else {
        part.collective.group = core::Group::of_partition(
            *one->cluster, core::Partition{parts.layout.per_worker, parts.layout.per_worker, 1}, 0);
      }
    }
    collective.parts = std::make_shared<const core::CollectiveParts>(std::move(parts));
  }
  return {std::move(one), ""};
}

}  // namespace tutti::sim
