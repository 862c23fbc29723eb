// The transport between machines. The files of links state it, NCCL's times depend on it, and it is
// never guessed from descriptive text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/cluster/network_link.h"
#include "core/nccl/cluster_text.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/system.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/nccl_model.h"
#include "core/scenario/network_reader.h"
#include "core/scenario/scenario.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/clusters.h"
#include "tests/support/samples.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Returns the transport of every shipped kind of link.
const std::map<std::string, Transport>& shipped_links() {
  static const std::map<std::string, Transport> kLinks{{"edr", Transport::kInfiniband},
                                                       {"hdr", Transport::kInfiniband},
                                                       {"ndr", Transport::kInfiniband},
                                                       {"roce-100", Transport::kRoce},
                                                       {"roce-200", Transport::kRoce},
                                                       {"roce-400", Transport::kRoce},
                                                       {"efa", Transport::kEfa},
                                                       {"efa-v2", Transport::kEfaV2},
                                                       {"efa-v3", Transport::kEfaV3},
                                                       {"efa-v4", Transport::kEfaV4},
                                                       {"ena", Transport::kTcp},
                                                       {"ethernet-1", Transport::kTcp},
                                                       {"ethernet-10", Transport::kTcp},
                                                       {"ethernet-25", Transport::kTcp},
                                                       {"ethernet-100", Transport::kTcp},
                                                       {"slingshot-10", Transport::kRoce},
                                                       {"slingshot-11", Transport::kSlingshot}};
  return kLinks;
}

struct Case {
  std::string network;  ///< fields of the network besides its kind
  std::string nccl;     ///< fields of strategy.nccl
  std::string machine = "hgx-h100";
  int nodes = 12;
  std::string own_machine = {};  ///< described in the scenario
};

/// Returns a scenario with an all-reduce of 1 GiB by NCCL.
Expected<Scenario> scenario(const Case& setup) {
  return read_scenario(
      fmt::format("cluster {{ workers {{ machine: \"{}\" count: {} }} network {{ kind: ONE_SWITCH "
                  "{} }} {} }} workload {{ "
                  "variable {{ name: \"v\" shape: 268435456 }} forward_ms: 0 update_ms: 0 }} "
                  "strategy {{ algorithm: "
                  "\"nccl\" nccl {{ {} }} }}",
                  setup.machine, setup.nodes, setup.network, setup.own_machine, setup.nccl),
      "s", test::shipped_library());
}

/// Returns the time of NCCL's all-reduce in µs, or 0 if it is unknown.
double us(const Case& setup) {
  const auto read = scenario(setup);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  if (!read || !read->plan.collective(read->plan.packs.front()).nccl) return 0;
  return read->plan.collective(read->plan.packs.front()).nccl->time.us();
}

std::vector<std::string> notes(const Case& setup) {
  const auto read = scenario(setup);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? nccl_notes(*read) : std::vector<std::string>();
}

TEST(TransportOfFiles, MatchesTheEnumInTheSchema) {
  for (int t = 1; t < proto::Transport_ARRAYSIZE; ++t) {
    const auto transport = static_cast<Transport>(t);
    EXPECT_EQ(name_in_files(transport), proto::Transport_Name(t));
    EXPECT_EQ(parse_transport(to_string(transport)), transport);
    EXPECT_THAT(transport_names(), HasSubstr(std::string(to_string(transport))));
  }
  EXPECT_EQ(parse_transport("none"), std::nullopt);
  EXPECT_EQ(parse_transport("pigeons"), std::nullopt);
}

TEST(TransportOfFiles, EveryShippedLinkStatesIt) {
  const std::vector<std::string> names = test::shipped_library().names(Library::Kind::kLink);
  EXPECT_EQ(names.size(), shipped_links().size());
  for (const std::string& name : names) {
    const auto file = test::shipped_library().read(Library::Kind::kLink, name, "");
    const auto link = read_network_link((*file)->text, (*file)->path);
    ASSERT_TRUE(link) << link.error().message();
    ASSERT_TRUE(shipped_links().contains(name)) << name << " is not in this test's table";
    EXPECT_EQ(link->transport, shipped_links().at(name)) << name;
  }
}

TEST(TransportOfFiles, UsualLatenciesAreThoseOfTheShippedLinks) {
  std::map<Transport, double> highest;
  for (const auto& [name, transport] : shipped_links()) {
    const auto file = test::shipped_library().read(Library::Kind::kLink, name, "");
    const auto link = read_network_link((*file)->text, (*file)->path);
    ASSERT_TRUE(link) << link.error().message();
    highest[transport] = std::max(highest[transport], to_us(link->latency));
  }
  for (const auto& [transport, us] : highest)
    EXPECT_EQ(nccl::usual_latency_us(transport), us) << to_string(transport);
}

/// A hop cannot take less time than the network needs for one bit.
TEST(TransportOfFiles, HigherLatenciesLengthenEveryHopBetweenNodes) {
  const double usual = us({"latency_us: 1.5", ""});
  EXPECT_EQ(us({"latency_us: 0.5", ""}), usual);
  const double slow = us({"latency_us: 1001.5", ""});
  const double hops = (slow - usual) / 1000;
  EXPECT_GE(hops, 1);
  EXPECT_NEAR(hops, std::round(hops), 1e-3);
}

TEST(TransportOfFiles, SlowConnectionsLimitNcclOverVerbsToo) {
  const double whole = us({"link: \"hdr\"", ""});
  const double slow = us({"link: \"hdr\" connection_gb_per_s: 0.01", ""});
  EXPECT_GT(slow, 2 * whole);
  EXPECT_EQ(us({"link: \"hdr\" connection_gb_per_s: 1000", ""}), whole);
}

TEST(TransportOfFiles, EveryNicOfAShippedMachineStatesIt) {
  for (const std::string& name : test::shipped_library().names(Library::Kind::kMachine)) {
    const auto file = test::shipped_library().read(Library::Kind::kMachine, name, "");
    const auto machine = read_machine((*file)->text, (*file)->path);
    ASSERT_TRUE(machine) << machine.error().message();
    for (const int nic : (*machine)->nics())
      EXPECT_NE((*machine)->parts()[nic].transport, Transport::kNone) << name;
  }
}

TEST(TransportOfFiles, EveryShippedLinkHasTheTimesOfItsTransport) {
  for (const auto& [link, transport] : shipped_links()) {
    const std::string by_link = fmt::format("link: \"{}\"", link);
    if (link == "ethernet-1") {
      EXPECT_EQ(us({by_link, ""}), 0) << "too slow for a single channel";
      EXPECT_THAT(notes({by_link, ""}), testing::SizeIs(1));
      continue;
    }
    const double own = us({by_link, ""});
    EXPECT_GT(own, 0) << link;
    EXPECT_EQ(own, us({by_link, fmt::format("network: \"{}\"", to_string(transport))})) << link;
    if (transport != Transport::kTcp) {
      EXPECT_NE(own, us({by_link, "network: \"tcp\""})) << link;
    }
    EXPECT_EQ(notes({by_link, ""}),
              notes({by_link, fmt::format("network: \"{}\"", to_string(transport))}))
        << link;
  }
}

/// SOURCE: 92 % of 10 GbE (HKBU-HPML/ddl-benchmarks); 4 to 6 GB/s with 4 x 8 V100 on 100 Gb/s TCP
/// (NVIDIA/nccl issue 450); 1.85 to 2.06 GB/s over one socket, 3.8 with eight threads on 32 Gb/s
/// (issue 209).
TEST(TransportOfFiles, SocketsSaturate10ButNot100GigabitEthernet) {
  const auto gb_per_s = [](const Case& setup, int ranks) {
    return 2.0 * (ranks - 1) / ranks * 1073.741824e3 / us(setup);
  };
  EXPECT_GT(gb_per_s({"link: \"ethernet-10\"", "", "pcie8-v100", 4}, 32), 0.9 * 1.18);
  const double hundred = gb_per_s({"link: \"ethernet-100\"", "", "dgx1-v100", 4}, 32);
  EXPECT_GT(hundred, 3.4);
  EXPECT_LT(hundred, 6);
  const Case slow{"link: \"ethernet-25\"", "set: \"NCCL_MAX_NCHANNELS=1\"", "pcie8-v100", 2};
  EXPECT_LT(gb_per_s(slow, 16), 2.1);
  Case threads = slow;
  threads.nccl += " set: \"NCCL_SOCKET_NTHREADS=8\"";
  EXPECT_GT(gb_per_s(threads, 16), 1.2 * gb_per_s(slow, 16));
  const Case off{"link: \"ethernet-100\" host_transport { library: OFF }", "", "dgx1-v100", 4};
  EXPECT_GT(gb_per_s(off, 32), hundred);
}

/// NCCL uses 2 threads with 8 sockets each on cards of Amazon, so that the limit of 10 Gb/s per
/// flow does not limit a node. SOURCE: 4.7 GB/s on two p3dn.24xlarge with one V100 each, for any
/// number of threads (NVIDIA/nccl issue 398); at most 32 Gb/s of 100 Gb/s on eight p3dn.24xlarge
/// with Horovod (Zhang et al., "Is Network the Bottleneck of Distributed Training?", 2020).
TEST(TransportOfFiles, NcclUsesSeveralSocketsOnEc2) {
  const auto gb_per_s = [](const std::string& network, const std::string& nccl) {
    return 2.0 * 63 / 64 * 1073.741824e3 / us({network, nccl, "ec2-p3dn-24xlarge", 8});
  };
  const double ec2 = gb_per_s("link: \"ena\"", "");
  EXPECT_GT(ec2, 3.5);
  EXPECT_LT(ec2, 5);
  const double one =
      gb_per_s("link: \"ena\" nccl_socket_threads: 1 nccl_sockets_per_thread: 1", "");
  EXPECT_LT(one, 0.6 * ec2);
  EXPECT_EQ(
      gb_per_s("link: \"ena\"", "set: \"NCCL_SOCKET_NTHREADS=1\" set: \"NCCL_NSOCKS_PERTHREAD=1\""),
      one)
      << "NCCL's variables override the defaults";
  EXPECT_EQ(gb_per_s("link: \"ena\" host_transport { overlay: VXLAN }", ""),
            gb_per_s("link: \"ena\" host_transport { overlay: VXLAN } nccl_socket_threads: 1 "
                     "nccl_sockets_per_thread: 1",
                     ""))
      << "in an overlay, NCCL sees a virtual card";
}

/// SOURCE: NVIDIA/nccl src/transport/net_socket.cc, ncclNetSocketGetNsockNthread.
TEST(TransportOfFiles, NcclLimitsThreadsAndSockets) {
  const auto with = [](const std::string& variables, const std::string& network = "") {
    return Case{"link: \"ena\" " + network, variables, "ec2-p3dn-24xlarge", 2};
  };
  const auto threads = [](const std::string& count) {
    return fmt::format("set: \"NCCL_SOCKET_NTHREADS={}\"", count);
  };
  const auto sockets = [](const std::string& count) {
    return fmt::format(" set: \"NCCL_NSOCKS_PERTHREAD={}\"", count);
  };
  // The host's limit would hide the differences.
  const std::string fast = "host_transport { thread_gb_per_s: 0.05 }";
  EXPECT_EQ(us(with(threads("64"), fast)), us(with(threads("16"), fast)));
  EXPECT_LT(us(with(threads("16"), fast)), us(with(threads("15"), fast)));
  EXPECT_THAT(notes(with(threads("64") + sockets("1"))),
              testing::Contains(HasSubstr("NCCL uses at most 16 threads per connection")));
  EXPECT_THAT(notes(with(threads("16"))), testing::Contains(HasSubstr("4 sockets per thread")))
      << "8 sockets per thread are the default on EC2";
  EXPECT_THAT(notes(with(threads("4") + sockets("16"))),
              testing::Each(Not(HasSubstr("sockets per connection"))));
  EXPECT_THAT(notes(with("set: \"NCCL_NSOCKS_PERTHREAD=8\"", "host_transport { overlay: VXLAN }")),
              testing::Contains(HasSubstr("NCCL_NSOCKS_PERTHREAD=8 has no effect")));
  // In a simulation, a message is split over the sockets that NCCL uses.
  const auto read = scenario(with(threads("16") + sockets("64")));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->cluster->network()->host->sockets(), 64);
}

TEST(TransportOfFiles, OneContainerPerGpuAndAnOverlaySlowNccl) {
  const auto with = [](const std::string& hosts) {
    return us({"link: \"ena\" host_transport { " + hosts + " }", "", "ec2-g4dn-12xlarge", 4});
  };
  EXPECT_GT(with("overlay: IPIP"), 1.5 * with(""));
  EXPECT_GT(with("overlay: IPIP"), with("overlay: VXLAN"));
  EXPECT_GE(with("overlay: IPIP pod_per_gpu: true"), with("overlay: IPIP"));
  EXPECT_GT(with("overlay: IPIP overlay_factor: 6"), with("overlay: IPIP"));
}

TEST(TransportOfFiles, OneGibibyteOverRoceIsFasterThanOverSockets) {
  // Eight ports of 12.25 GB/s per direction carry the 2 · 95/96 GiB of a node in 21.7 ms.
  const double roce = us({"link: \"roce-100\"", ""});
  EXPECT_NEAR(roce / 1e3, 23.7, 0.1);
  EXPECT_EQ(roce, us({"link: \"roce-100\"", "network: \"roce\""}));
  EXPECT_NEAR(us({"link: \"roce-100\"", "network: \"tcp\""}) / 1e3, 49.5, 0.1);
}

TEST(TransportOfFiles, IsNotInferredFromDescriptions) {
  const std::string prose = "latency_us: 1.5 source: \"TCP over Ethernet, EFA and Slingshot\" ";
  const double infiniband = us({"latency_us: 1.5", "network: \"infiniband\""});
  EXPECT_EQ(us({prose + "transport: INFINIBAND", ""}), infiniband);
  EXPECT_EQ(us({prose, ""}), infiniband) << "as the machine's cards state";
  EXPECT_EQ(us({"link: \"ethernet-100\" transport: TCPXO", ""}),
            us({"link: \"ethernet-100\"", "network: \"tcpxo\""}))
      << "the network's transport overrides that of its link";
}

TEST(TransportOfFiles, IsThatOfTheNicsIfTheNetworkStatesNone) {
  EXPECT_EQ(us({"latency_us: 2", "", "ec2-p4d-24xlarge", 4}),
            us({"latency_us: 2", "network: \"efa\"", "ec2-p4d-24xlarge", 4}));
  EXPECT_THAT(
      notes({"latency_us: 2", "", "ec2-p4d-24xlarge", 4}),
      testing::Contains(AllOf(
          HasSubstr("NCCL's times assume transport efa"), HasSubstr("network { transport: … }"),
          HasSubstr("INFINIBAND, ROCE, EFA, EFA_WITHOUT_RDMA, SLINGSHOT, TCPX, TCPXO, TCP"))));
  for (const Case& stated :
       {Case{"latency_us: 2 transport: EFA", ""}, Case{"latency_us: 2", "network: \"efa\""}})
    EXPECT_THAT(notes(stated), Not(testing::Contains(HasSubstr("state a transport"))));
}

TEST(TransportOfFiles, IsMissingIfNothingStatesIt) {
  const auto file = test::shipped_library().read(Library::Kind::kMachine, "dgx-a100", "");
  std::string text = test::replaced((*file)->text, " transport: INFINIBAND", "");
  text = "machine { " + test::replaced(text, "name: \"dgx-a100\"", "name: \"mine\"") + "\n}";
  const Case bare{"latency_us: 2", "", "mine", 2, text};
  EXPECT_EQ(us(bare), 0);
  EXPECT_THAT(
      notes(bare),
      ElementsAre(AllOf(
          HasSubstr("the transport of network card nic0 is unknown; set nic { transport: … }"),
          HasSubstr("INFINIBAND, ROCE,"), HasSubstr("strategy.nccl.network"),
          HasSubstr("simulated as rings"))));
  EXPECT_GT(us({"latency_us: 2 transport: INFINIBAND", "", "mine", 2, text}), 0);
}

TEST(TransportOfFiles, EfaHasNoRdmaIfTheNicsStateItOrGpusAreOld) {
  const auto on = [](const std::string& machine, const std::string& network) {
    return us({"latency_us: 2", network.empty() ? "" : fmt::format("network: \"{}\"", network),
               machine, 4});
  };
  EXPECT_EQ(on("ec2-p3dn-24xlarge", ""), on("ec2-p3dn-24xlarge", "efa"));
  EXPECT_EQ(on("ec2-p3dn-24xlarge", ""), on("ec2-p3dn-24xlarge", "efa_without_rdma"));
  EXPECT_GT(on("ec2-p4d-24xlarge", "efa_without_rdma"), on("ec2-p4d-24xlarge", "efa"));
}

TEST(TransportOfFiles, RemainsWhenALinkKindIsExpanded) {
  proto::Network network;
  network.set_kind(proto::Network::ONE_SWITCH);
  network.set_link("roce-400");
  network.set_source("fitted");
  ASSERT_TRUE(expand_link(network, "s", test::shipped_library()));
  EXPECT_EQ(network.transport(), proto::ROCE);
  network.set_link("ndr");
  ASSERT_TRUE(expand_link(network, "s", test::shipped_library()));
  EXPECT_EQ(network.transport(), proto::ROCE) << "what it states itself";
}

TEST(TransportOfFiles, IsWrittenForImportedTopologies) {
  const auto file = test::shipped_library().read(Library::Kind::kMachine, "dgx-a100", "");
  const auto like = read_machine((*file)->text, (*file)->path);
  const auto text = [&](const std::string& topology, const std::string& link) {
    return *nccl::cluster_text(test::topology(topology), {"mine", "t.xml", 2, link, "dgx-a100"},
                               **like, {});
  };
  const std::string dgx = text("dgxa100", "");
  EXPECT_THAT(dgx,
              AllOf(HasSubstr("network { kind: ONE_SWITCH latency_us: 1.5 transport: INFINIBAND "),
                    HasSubstr("bandwidth_gb_per_s: 25 transport: INFINIBAND source: \"mlx5")));
  EXPECT_THAT(text("dgxa100", "roce-200"),
              HasSubstr("network { kind: ONE_SWITCH link: \"roce-200\" }"));
  EXPECT_THAT(text("p4d", ""), AllOf(HasSubstr("transport: EFA source"), Not(HasSubstr("mlx5"))));
  const auto read = read_scenario(
      "cluster { " + dgx + " } workload { variable { name: \"v\" shape: 100 } forward_ms: 0 " +
          "update_ms: 0 } strategy { algorithm: \"nccl\" }",
      "s", test::shipped_library());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(read->why_rings, IsEmpty()) << "imported machines have predicted times of NCCL";
}

}  // namespace
}  // namespace tutti::core
