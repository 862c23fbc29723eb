#pragma once

#include <memory>

#include "core/cluster/cluster.h"
#include "core/strategy/collective.h"

namespace tutti::test {

/// What the tests' plain clusters are made of. Odd rates, so that times do not come out round by
/// luck.
struct PlainRates {
  core::Bandwidth link{12'345'678'901};
  core::Time latency = core::nanoseconds(1'234);
  core::Bandwidth reduce{7'777'777'777};
};

/// `workers` machines with one CPU and one network card each, on one switch. The way from any CPU
/// to any other takes `latency` plus bytes over `link`, in both network models; adding runs at
/// `reduce`.
std::shared_ptr<const core::Cluster> plain_cluster(int workers, const PlainRates& rates = {});

/// The same machines on another network, with so many cards each.
std::shared_ptr<const core::Cluster> plain_cluster(std::int64_t workers,
                                                   const core::Network& network, int cards = 1,
                                                   const PlainRates& rates = {});
/// A fat tree of leaves with so many workers. `uplink`: between a leaf and a spine. Every switch
/// adds 100 ns.
core::Network fat_tree(std::int64_t workers_per_leaf, int spines, core::Bandwidth uplink,
                       bool rails = false, int cards = 1);
/// A dragonfly; links between groups carry `global`. Every router adds 100 ns, between groups 300.
core::Network dragonfly(std::int64_t workers_per_router, int routers_per_group,
                        int global_links_per_router, core::Bandwidth local, core::Bandwidth global);

/// A collective of `schedule` over all the workers of a plain cluster. Elements are bytes-sized by
/// `type`.
core::Collective on_plain_cluster(const core::Cluster& cluster,
                                  std::shared_ptr<const core::Schedule> schedule,
                                  std::int64_t elements,
                                  core::DataType type = core::DataType::kFloat32);

/// The same with rank r on worker `places[r]`.
core::Collective on_plain_cluster(const core::Cluster& cluster,
                                  std::shared_ptr<const core::Schedule> schedule,
                                  std::int64_t elements, const std::vector<int>& places);

/// One machine of `gpus` GPUs on a switch (with NVLINK links of `rates`), a CPU behind a PCIe
/// switch and a card.
std::shared_ptr<const core::Machine> switch_machine(int gpus, const PlainRates& rates = {},
                                                    bool adding_switch = false);

/// Where the repository's own files are.
std::string source_folder();

}  // namespace tutti::test
