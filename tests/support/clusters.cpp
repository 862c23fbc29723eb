#include "tests/support/clusters.h"

#include <fmt/format.h>

namespace tutti::test {

using core::Bandwidth;
using core::Cluster;
using core::LinkKind;
using core::Machine;
using core::MachineLink;
using core::Network;
using core::Part;
using core::PartId;
using core::PartKind;
using core::Time;

namespace {

Part device(std::string name, PartKind kind, const PlainRates& rates) {
  Part part;
  part.name = std::move(name);
  part.kind = kind;
  part.device.memory = Bandwidth(3 * rates.reduce.count());
  part.device.reduce = rates.reduce;
  part.device.copy = Bandwidth(2 * rates.reduce.count());
  return part;
}

Part other(std::string name, PartKind kind, Bandwidth nic = {}) {
  Part part;
  part.name = std::move(name);
  part.kind = kind;
  part.nic = nic;
  return part;
}

void join(std::vector<MachineLink>& links, int a, int b, LinkKind kind, Bandwidth bandwidth,
          Time latency) {
  links.push_back({a, b, kind, bandwidth, latency, "test"});
  links.push_back({b, a, kind, bandwidth, latency, "test"});
}

}  // namespace

std::shared_ptr<const Cluster> plain_cluster(int workers, const PlainRates& rates) {
  return plain_cluster(
      workers, Network{Network::Kind::kOneSwitch, std::nullopt, rates.latency, "test"}, 1, rates);
}

std::shared_ptr<const Cluster> plain_cluster(std::int64_t workers, const Network& network,
                                             int cards, const PlainRates& rates) {
  std::vector<Part> parts{device("cpu0", PartKind::kCpu, rates)};
  std::vector<MachineLink> links;
  for (int card = 0; card < cards; ++card) {
    parts.push_back(other("nic" + std::to_string(card), PartKind::kNic, rates.link));
    join(links, 0, card + 1, LinkKind::kPcie, rates.link, Time());
  }
  auto machine = std::make_shared<const Machine>("plain", std::move(parts), std::move(links),
                                                 std::vector<core::RingOrder>{},
                                                 std::vector<core::RingOrder>{});
  return std::make_shared<const Cluster>(std::vector<core::WorkerGroup>{{machine, workers}}, 1,
                                         network);
}

Network fat_tree(std::int64_t workers_per_leaf, int spines, Bandwidth uplink, bool rails,
                 int cards) {
  Network network{Network::Kind::kFatTree, std::nullopt, core::nanoseconds(1'000), "test"};
  network.fat_tree = {workers_per_leaf, spines, rails, cards, uplink, core::nanoseconds(100)};
  network.choice.cards_per_worker = cards;
  return network;
}

Network dragonfly(std::int64_t workers_per_router, int routers_per_group,
                  int global_links_per_router, Bandwidth local, Bandwidth global) {
  Network network{Network::Kind::kDragonfly, std::nullopt, core::nanoseconds(1'000), "test"};
  network.dragonfly = {
      workers_per_router,     routers_per_group,     global_links_per_router, local, global,
      core::nanoseconds(100), core::nanoseconds(300)};
  return network;
}

core::Collective on_plain_cluster(const Cluster& cluster,
                                  std::shared_ptr<const core::Schedule> schedule,
                                  std::int64_t elements, core::DataType type) {
  const std::int64_t ranks = schedule->ranks();
  return {core::Group::of_cluster(cluster, false),
          std::move(schedule),
          type,
          elements,
          core::Staging::kDirect,
          ranks};
}

core::Collective on_plain_cluster(const Cluster& cluster,
                                  std::shared_ptr<const core::Schedule> schedule,
                                  std::int64_t elements, const std::vector<int>& places) {
  std::vector<PartId> devices;
  for (const int worker : places) devices.push_back({worker, 0});
  const std::int64_t ranks = schedule->ranks();
  return {core::Group::of_devices(cluster, std::move(devices)),
          std::move(schedule),
          core::DataType::kFloat32,
          elements,
          core::Staging::kDirect,
          ranks};
}

std::shared_ptr<const Machine> switch_machine(int gpus, const PlainRates& rates,
                                              bool adding_switch) {
  std::vector<Part> parts;
  std::vector<MachineLink> links;
  for (int i = 0; i < gpus; ++i)
    parts.push_back(device(fmt::format("gpu{}", i), PartKind::kGpu, rates));
  parts.push_back(other("nvswitch", PartKind::kNvswitch));
  parts.back().in_switch_reduction = adding_switch;
  parts.push_back(other("plx", PartKind::kPcieSwitch));
  parts.push_back(device("cpu0", PartKind::kCpu, rates));
  parts.push_back(other("nic0", PartKind::kNic, rates.link));
  for (int i = 0; i < gpus; ++i) {
    join(links, i, gpus, LinkKind::kNvlink, rates.link, Time(rates.latency.count() / 2));
    join(links, i, gpus + 1, LinkKind::kPcie, Bandwidth(rates.link.count() / 3),
         Time(rates.latency.count() / 2));
  }
  join(links, gpus + 1, gpus + 2, LinkKind::kPcie, Bandwidth(rates.link.count() / 3),
       Time(rates.latency.count() / 2));
  join(links, gpus + 1, gpus + 3, LinkKind::kPcie, Bandwidth(rates.link.count() / 3),
       Time(rates.latency.count() / 2));
  return std::make_shared<const Machine>("switched", std::move(parts), std::move(links),
                                         std::vector<core::RingOrder>{},
                                         std::vector<core::RingOrder>{});
}

std::string source_folder() { return TUTTI_SOURCE_FOLDER; }

}  // namespace tutti::test
