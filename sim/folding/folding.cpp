#include "sim/folding/folding.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "sim/folding/folded_schedule.h"

namespace tutti::sim {
namespace {

using core::Cluster;
using core::Pack;
using core::Renumbering;
using core::Scenario;

/// What makes some workers special, but for their collectives; empty if nothing does.
std::string difference(const Scenario& scenario) {
  const Cluster& cluster = *scenario.cluster;
  const core::Conditions& conditions = scenario.run.conditions;
  if (cluster.workers() == 1) return "there is one worker";
  if (scenario.strategy.servers) return "variables lie on servers, which are not like other workers";
  if (scenario.plan.fusion) return "what travels together is decided in cycles, while the scenario runs";
  if (scenario.plan.partition) return "replicas are in groups, which tell workers apart";
  if (cluster.groups().size() > 1) return "workers are of several kinds";
  if (!scenario.communicators.empty()) return "there are several communicators, whose groups tell workers apart";
  if (cluster.fabric()) return "workers have different places in the network's switches";
  if (scenario.run.compute_jitter_ppm != 0 || conditions.compute_noise.kind != core::Noise::Kind::kNone)
    return "replicas compute at paces of their own";
  if (!conditions.slow.empty()) return "some devices are slow";
  if (!conditions.gone.empty()) return "some workers are gone";
  if (!conditions.links.empty() || !conditions.background.empty()) return "something happens on some links";
  return "";
}

/// What its collective does, as far as that is simulated: of NCCL's own times, where data goes.
const std::shared_ptr<const core::Schedule>& simulated(const core::Collective& collective) {
  return collective.nccl && collective.nccl_ways ? collective.nccl_ways : collective.schedule;
}

std::optional<Renumbering> alike_under(const Scenario& scenario) {
  const Cluster& cluster = *scenario.cluster;
  const std::int32_t per_worker = cluster.replicas_per_worker();
  const auto all_alike = [&](Renumbering by) {
    return std::all_of(scenario.plan.packs.begin(), scenario.plan.packs.end(),
                       [&](const Pack& pack) { return simulated(pack.collective)->same_everywhere(by, per_worker); });
  };
  if (all_alike(Renumbering::kShift)) return Renumbering::kShift;
  if (std::has_single_bit(static_cast<std::uint64_t>(cluster.workers())) && all_alike(Renumbering::kExchange))
    return Renumbering::kExchange;
  return std::nullopt;
}

}  // namespace

Folding fold(const Scenario& scenario) {
  if (std::string why = difference(scenario); !why.empty()) return {nullptr, std::move(why)};
  const std::optional<Renumbering> by = alike_under(scenario);
  if (!by) {
    return {nullptr,
            "collectives are not the same to every worker (their algorithm makes some special, or the elements of "
            "some pack do not divide by the ranks)"};
  }
  const Cluster& all = *scenario.cluster;
  auto one = std::make_shared<Scenario>(scenario);
  one->cluster = std::make_shared<Cluster>(std::vector<core::WorkerGroup>{{all.groups().front().machine, 1}},
                                           all.replicas_per_worker(), all.network());
  for (Pack& pack : one->plan.packs) {
    core::Collective& collective = pack.collective;
    const bool hosts = collective.schedule->ranks() > all.replicas();
    collective.schedule = folded(simulated(collective), *by, static_cast<std::int32_t>(all.workers()),
                                 static_cast<std::int32_t>(all.replicas_per_worker()));
    collective.nccl_ways = nullptr;
    collective.group = core::Group::of_cluster(*one->cluster, hosts);
    collective.contributors = all.replicas_per_worker();
  }
  return {std::move(one), ""};
}

}  // namespace tutti::sim
