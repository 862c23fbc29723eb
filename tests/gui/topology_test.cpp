// The topology view shows all parts and links of the cluster, and its layout has no overlaps.
// Further tests cover link loads and timelines without links.

#include "gui/traffic/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "core/timeline/writer.h"
#include "gui/traffic/link_load.h"
#include "gui/traffic/topology_layout.h"
#include "tests/gui/simulated.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using core::Time;
using testing::HasSubstr;

std::string on_machine(const std::string& machine, int workers,
                       const std::string& network = "ONE_SWITCH") {
  std::string text =
      "cluster { workers { machine: \"" + machine + "\" count: " + std::to_string(workers) + " } ";
  if (workers > 1) text += "network { kind: " + network + " latency_us: 1.5 } ";
  return text +
         "} workload { variable { name: \"a\" shape: [4001] } update_ms: 0 } strategy { algorithm: "
         "\"ring\" } "
         "run { steps: 1 }";
}

struct Ran {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const core::Scenario> plan;
  std::shared_ptr<const Traffic> traffic;
  Topology topology;

  explicit Ran(const std::string& text)
      : trace(test::simulated_trace(text)),
        plan(*plan_of_run(*trace, test::shipped_library())),
        traffic(*Traffic::read(*trace)),
        topology(Topology::of(*trace, plan.get(), traffic.get())) {}
};

TEST(Topology, HasEveryPartAndLinkOfTheCluster) {
  for (const std::string machine : {"dgx1-v100", "dgx-a100", "hgx-h100", "pcie-l40s", "cpu-host"}) {
    const Ran run(on_machine(machine, 2));
    const core::Cluster& cluster = *run.plan->cluster;
    std::size_t parts = 1;  // starts with the network
    for (const int worker : {0, 1}) parts += cluster.machine(worker).parts().size();
    EXPECT_EQ(run.topology.nodes().size(), parts) << machine;
    ASSERT_EQ(static_cast<core::LinkId>(run.topology.links().size()), cluster.links()) << machine;
    std::size_t loaded = 0;
    for (core::LinkId id = 0; id < cluster.links(); ++id) {
      const Topology::Link& link = run.topology.links()[id];
      EXPECT_EQ(link.name, cluster.link_name(id));
      EXPECT_EQ(link.capacity, cluster.link(id).bandwidth);
      if (!link.record) continue;
      ++loaded;
      EXPECT_EQ(run.trace->links()[*link.record].name, link.name);
      EXPECT_EQ(run.topology.link_of_record(*link.record), static_cast<std::size_t>(id));
    }
    EXPECT_EQ(loaded, run.trace->links().size()) << machine;
    EXPECT_TRUE(run.topology.has_links());
    EXPECT_EQ(run.topology.words(), "");
  }
}

TEST(Topology, DrawsTheSwitchesOfAFatTreeAsOneNetwork) {
  const std::string text =
      on_machine("cpu-host", 4, "FAT_TREE switch_us: 1 fat_tree { workers_per_leaf: 2 spines: 2 }");
  const Ran run(text);
  const core::Cluster& cluster = *run.plan->cluster;
  EXPECT_EQ(run.topology.nodes().size(), 1 + 4 * cluster.machine(0).parts().size());
  EXPECT_EQ(static_cast<core::LinkId>(run.topology.links().size()),
            cluster.links() - cluster.switch_links());
  EXPECT_EQ(run.topology.words(),
            "The network (fat tree of 2 leaves and 2 spines) is drawn as a single node; tutti "
            "report lists the links.");
  const auto way = run.topology.route(run.traffic->device(0, "cpu0"),
                                      run.traffic->device(3, "cpu0"), core::Staging::kDirect);
  std::string names;
  for (const std::size_t link : way) names += run.topology.links()[link].name + " ";
  EXPECT_EQ(names, "w0/cpu0→w0/nic0 w0/nic0→leaf0 leaf1→w3/nic0 w3/nic0→w3/cpu0 ");
  // If the scenario cannot be read, the topology is built from the links that the timeline names.
  const Topology known = Topology::of(*run.trace, nullptr, run.traffic.get());
  std::size_t networks = 0;
  for (const Topology::Node& node : known.nodes()) networks += node.worker < 0 ? 1 : 0;
  EXPECT_EQ(networks, 1u);
  for (const Topology::Link& link : known.links()) EXPECT_NE(link.from, link.to) << link.name;
}

TEST(Topology, RoutesMatchThoseOfTheCluster) {
  const Ran run(on_machine("dgx1-v100", 2));
  const core::Cluster& cluster = *run.plan->cluster;
  for (const auto staging : {core::Staging::kDirect, core::Staging::kViaHost}) {
    for (std::int64_t a = 0; a < cluster.replicas(); ++a) {
      for (std::int64_t b = 0; b < cluster.replicas(); ++b) {
        const core::PartId from = cluster.replica(a), to = cluster.replica(b);
        std::vector<core::Hop> hops;
        ASSERT_TRUE(cluster.append_route(from, to, staging, hops));
        std::vector<std::string> expected, got;
        for (const core::Hop& hop : hops) expected.push_back(cluster.link_name(hop.link));
        const auto route =
            run.topology.route(run.traffic->device(from.worker, cluster.part(from).name),
                               run.traffic->device(to.worker, cluster.part(to).name), staging);
        for (const std::size_t link : route) got.push_back(run.topology.links()[link].name);
        EXPECT_EQ(got, expected);
      }
    }
  }
}

TEST(Topology, WithoutAScenarioHasTheLinksOfTheTimeline) {
  const Ran run(on_machine("dgx1-v100", 2));
  const Topology known = Topology::of(*run.trace, nullptr, run.traffic.get());
  EXPECT_EQ(known.links().size(), run.trace->links().size());
  EXPECT_THAT(known.words(), HasSubstr("Only links that the timeline names"));
  for (const Topology::Link& link : known.links()) EXPECT_TRUE(link.record);
  EXPECT_TRUE(known.node_of_device(run.traffic->device(1, "gpu7")));
}

/// Returns a copy of the timeline without links, as real runs write it.
std::shared_ptr<const Trace> without_links(const Trace& trace) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin(trace.run());
  for (const Trace::Row& row : trace.rows()) writer.track(row.track);
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    EXPECT_TRUE(trace.read_row(
        r, [&](const core::Span& span) { writer.span(trace.rows()[r].track.id, span); }));
  }
  writer.end();
  return *Trace::from_bytes(out.str(), "real");
}

TEST(Topology, ForARealRunHasSendersAndReceiversWithANote) {
  const Ran run(on_machine("dgx1-v100", 2));
  const auto real = without_links(*run.trace);
  const auto traffic = *Traffic::read(*real);
  const Topology topology = Topology::of(*real, run.plan.get(), traffic.get());
  EXPECT_FALSE(topology.has_links());
  EXPECT_THAT(topology.words(), HasSubstr("senders and receivers"));
  EXPECT_EQ(topology.nodes().size(), 16u) << "devices only";
  EXPECT_EQ(topology.links().size(), 16u) << "a ring of 16";
  core::Bytes sent, received;
  for (const Topology::Link& link : topology.links()) sent += link.bytes;
  for (const Transfer& transfer : test::transfers_of(*traffic)) received += transfer.bytes;
  EXPECT_EQ(sent, received);
  EXPECT_EQ(topology.route(0, 1, core::Staging::kDirect).size(), 1u);
}

TEST(Topology, OmitsLinksWithInvalidNames) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  for (const char* name :
       {"", "→", "w/x→w0/a", "w99999999999/a→network", "w0/a→w0/a", "w0/gpu1→network", "no arrow",
        "w0/gpu1→network", "w2147483647/a→network"}) {
    core::LinkRecord link;
    link.name = name;
    writer.link(link);
  }
  writer.end();
  const auto trace = Trace::from_bytes(out.str(), "odd");
  ASSERT_TRUE(trace);
  const Topology topology = Topology::of(**trace, nullptr, nullptr);
  EXPECT_EQ(topology.links().size(), 3u);
  const TopologyLayout layout = lay_out(topology, 1);
  EXPECT_EQ(layout.links.size(), 3u);
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

double distance(const Point& p, const Box& box) {
  return std::hypot(std::max({box.x - p.x, 0.0, p.x - box.right()}),
                    std::max({box.y - p.y, 0.0, p.y - box.bottom()}));
}

TEST(TopologyLayout, PartsDoNotOverlapAndLinksEndAtTheirParts) {
  for (const std::string machine : {"dgx1-v100", "dgx-a100", "hgx-h100", "pcie-l40s", "cpu-host"}) {
    for (const auto& [workers, network] : {std::pair(1, "ONE_SWITCH"), std::pair(2, "ONE_SWITCH"),
                                           std::pair(2, "RAILS"), std::pair(7, "ONE_SWITCH")}) {
      const Ran run(on_machine(machine, workers, network));
      const Topology& topology = run.topology;
      for (const double aspect : {0.3, 1.0, 3.0}) {
        const TopologyLayout layout = lay_out(topology, aspect);
        const std::string where = machine + " x " + std::to_string(workers);
        ASSERT_EQ(layout.workers.size(), static_cast<std::size_t>(workers));
        for (std::size_t a = 0; a < layout.workers.size(); ++a) {
          for (std::size_t b = 0; b < a; ++b)
            EXPECT_FALSE(overlap(layout.workers[a].box, layout.workers[b].box));
          for (const Box& bar : layout.network) EXPECT_FALSE(overlap(bar, layout.workers[a].box));
        }
        for (std::size_t a = 0; a < topology.nodes().size(); ++a) {
          for (std::size_t b = 0; b < a; ++b) {
            EXPECT_FALSE(overlap(layout.nodes[a], layout.nodes[b]))
                << where << ": " << topology.nodes()[a].full_name() << " and "
                << topology.nodes()[b].full_name();
          }
          const std::int32_t worker = topology.nodes()[a].worker;
          if (worker < 0) continue;
          const Box& box = layout.workers[worker].box;
          EXPECT_GE(layout.nodes[a].x, box.x) << where << topology.nodes()[a].full_name();
          EXPECT_LE(layout.nodes[a].right(), box.right())
              << where << topology.nodes()[a].full_name();
          EXPECT_LE(layout.nodes[a].bottom(), box.bottom()) << where;
        }
        const auto ends_at = [&](const Point& point, std::size_t node) {
          double nearest = distance(point, layout.nodes[node]);
          if (topology.nodes()[node].worker < 0) {
            for (const Box& bar : layout.network) nearest = std::min(nearest, distance(point, bar));
          }
          return nearest < 12;
        };
        for (std::size_t l = 0; l < topology.links().size(); ++l) {
          EXPECT_TRUE(ends_at(layout.links[l].front(), topology.links()[l].from))
              << topology.links()[l].name;
          EXPECT_TRUE(ends_at(layout.links[l].back(), topology.links()[l].to))
              << topology.links()[l].name;
          EXPECT_GT(layout.widths[l], 0);
        }
      }
    }
  }
}

TEST(TopologyLayout, WiderLinksHaveMoreCapacity) {
  const Ran run(on_machine("dgx1-v100", 2));
  const TopologyLayout layout = lay_out(run.topology, 1);
  for (std::size_t a = 0; a < run.topology.links().size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (run.topology.links()[a].capacity < run.topology.links()[b].capacity) {
        EXPECT_LT(layout.widths[a], layout.widths[b]);
      }
    }
  }
}

TEST(TopologyLayout, PointsMoveAtConstantSpeedAlongALine) {
  const Line2 line{{0, 0}, {3, 0}, {3, 4}};
  EXPECT_EQ(along(line, 0).x, 0);
  EXPECT_EQ(along(line, 1).y, 4);
  EXPECT_NEAR(along(line, 3.0 / 7).x, 3, 1e-9);
  EXPECT_NEAR(along(line, 5.0 / 7).y, 2, 1e-9);
  EXPECT_EQ(along({{1, 1}, {1, 1}}, 0.5).x, 1);
}

TEST(LinkLoad, IsTheShareOfTheLinksCapacity) {
  core::LinkRecord link;
  link.bandwidth = core::bandwidth_from_gb_per_s(1);
  link.bin_width = core::microseconds(1);  // 1000 bytes
  link.bins = {1000, 250, 0, 500};
  EXPECT_DOUBLE_EQ(load_at(link, Time(0)), 1);
  EXPECT_DOUBLE_EQ(load_at(link, core::microseconds(1)), 0.25);
  EXPECT_DOUBLE_EQ(load_at(link, core::microseconds(2)), 0);
  EXPECT_DOUBLE_EQ(load_at(link, core::microseconds(9)), 0);
  EXPECT_DOUBLE_EQ(load_of(link, Time(0), core::microseconds(2)), 0.625);
  EXPECT_DOUBLE_EQ(load_of(link, core::nanoseconds(1500), core::nanoseconds(3500)), 0.1875);
  EXPECT_DOUBLE_EQ(load_at({}, Time(5)), 0);
}

}  // namespace
}  // namespace tutti::gui
