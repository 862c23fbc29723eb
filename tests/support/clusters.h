#pragma once

#include <memory>

#include "core/cluster/cluster.h"
#include "core/strategy/collective.h"

namespace tutti::test {

/// The rates of the tests' plain clusters. The rates are odd numbers, so that times are not round
/// by chance.
struct PlainRates {
  core::Bandwidth link{12'345'678'901};
  core::Time latency = core::nanoseconds(1'234);
  core::Bandwidth reduce{7'777'777'777};
};

/// Returns a cluster of `workers` machines on one switch, with one CPU and one network card each. A
/// message between any two CPUs takes `latency` plus bytes / `link`, in both network models.
/// Reductions run at `reduce`.
std::shared_ptr<const core::Cluster> plain_cluster(int workers, const PlainRates& rates = {});

/// Returns a cluster of the same machines on another network, with `cards` network cards each.
std::shared_ptr<const core::Cluster> plain_cluster(std::int64_t workers,
                                                   const core::Network& network, int cards = 1,
                                                   const PlainRates& rates = {});
/// Returns a fat tree with `workers_per_leaf` workers per leaf switch. `uplink`: the bandwidth
/// between a leaf and a spine. Every switch adds 100 ns.
core::Network fat_tree(std::int64_t workers_per_leaf, int spines, core::Bandwidth uplink,
                       bool rails = false, int cards = 1);
/// Returns a dragonfly. `local`, `global`: the bandwidth of links within and between groups. Every
/// router adds a latency of 100 ns, and every link between groups adds 300 ns.
core::Network dragonfly(std::int64_t workers_per_router, int routers_per_group,
                        int global_links_per_router, core::Bandwidth local, core::Bandwidth global);

/// Returns a collective with this schedule over all workers of a plain cluster. `type` determines
/// the size of elements.
core::Collective on_plain_cluster(const core::Cluster& cluster,
                                  std::shared_ptr<const core::Schedule> schedule,
                                  std::int64_t elements,
                                  core::DataType type = core::DataType::kFloat32);

/// Does the same, with rank r on worker `places[r]`.
core::Collective on_plain_cluster(const core::Cluster& cluster,
                                  std::shared_ptr<const core::Schedule> schedule,
                                  std::int64_t elements, const std::vector<int>& places);

/// Returns a machine with `gpus` GPUs on a switch, with NVLink links of `rates`, a CPU behind a
/// PCIe switch, and a network card.
std::shared_ptr<const core::Machine> switch_machine(int gpus, const PlainRates& rates = {},
                                                    bool adding_switch = false);

/// Returns the path of the repository's source folder.
std::string source_folder();

}  // namespace tutti::test
