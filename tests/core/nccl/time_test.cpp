// Predicted times of NCCL's collectives on machines: they must not be shorter than links and cards
// allow, must grow with the bytes, and must match closed forms and published measurements. The
// tests also check how the file of parameters is read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/file.h"
#include "core/cluster/machine_file.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/prediction.h"
#include "core/strategy/strategy.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using testing::ElementsAre;

Parameters shipped() {
  auto loaded = Parameters::load(test::source_folder() + "/scenarios");
  EXPECT_TRUE(loaded) << loaded.error().message();
  return loaded.value_or(Parameters::initial());
}

System machine(const std::string& name, int nodes, std::optional<int> gpus = {},
               const std::optional<std::string>& network = {}) {
  const auto loaded =
      load_machine(test::source_folder() + "/scenarios/machines/" + name + ".textproto");
  EXPECT_TRUE(loaded) << loaded.error().message();
  const auto system = system_of(**loaded, nodes, gpus, network);
  EXPECT_TRUE(system) << system.error().message();
  return system.value_or(System());
}

Communicator uniform(const System& system) {
  const auto comm = uniform_communicator(system, kDefaultVersion, {});
  EXPECT_TRUE(comm) << comm.error().message();
  return comm.value_or(Communicator());
}

struct OnMachines {
  const char* machine;
  int nodes;
};

constexpr OnMachines kSetups[] = {
    {"dgx1-v100", 1}, {"dgx1-v100", 4},   {"dgx2", 1},      {"dgx-a100", 1},        {"dgx-a100", 2},
    {"dgx-a100", 32}, {"hgx-h100", 1},    {"hgx-h100", 2},  {"hgx-h100", 16},       {"dgx-b200", 1},
    {"dgx-b200", 4},  {"gb200-nvl72", 1}, {"pcie-l40s", 1}, {"ec2-p4d-24xlarge", 8}};

/// Returns the minimum number of bytes that some GPU has to send for a collective of `bytes`, for
/// all algorithms but NVLS, where the switch adds.
double min_sent(Function function, double bytes, int ranks) {
  switch (function) {
    case Function::kAllReduce: return bytes;  // with NVLS, every GPU sends its buffer once
    case Function::kAllGather:
    case Function::kReduceScatter: return bytes / ranks;
    default: return bytes / ranks;
  }
}

TEST(NcclTime, IsNeverBelowTheTransferTimeByTheDataSheet) {
  const Parameters parameters = shipped();
  for (const OnMachines& setup : kSetups) {
    const System s = machine(setup.machine, setup.nodes);
    const Communicator comm = uniform(s);
    const Model model = tune(comm, {});
    const double out_of_gpu = s.card ? s.pcie_gb_per_s : s.nvlink_of_gpu();
    for (const Function function :
         {Function::kAllReduce, Function::kAllGather, Function::kReduceScatter,
          Function::kBroadcast, Function::kReduce}) {
      for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 34; bytes *= 4) {
        const auto choice = choose(comm, model, {function, bytes});
        ASSERT_TRUE(choice);
        const double us = predict(s, comm, {function, bytes}, *choice, parameters).us();
        const double least =
            min_sent(function, static_cast<double>(bytes), comm.ranks) / out_of_gpu / 1e3;
        EXPECT_GE(us, least) << setup.machine << setup.nodes << to_string(function) << bytes;
        if (s.nodes == 1 || function != Function::kAllReduce) continue;
        // Each node's share of the sum has to leave the node.
        EXPECT_GE(us, static_cast<double>(bytes) / (s.nics * s.nic_gb_per_s) / 1e3)
            << setup.machine << setup.nodes;
      }
    }
  }
}

TEST(NcclTime, GrowsWithTheBytesForAGivenChoice) {
  const Parameters parameters = shipped();
  for (const OnMachines& setup : kSetups) {
    const System s = machine(setup.machine, setup.nodes);
    const Communicator comm = uniform(s);
    for (const Candidate& one : candidates(comm, tune(comm, {}), {Function::kAllReduce, 1 << 20})) {
      if (one.off) continue;
      double before = 0;
      for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 33; bytes *= 2) {
        const Choice choice{one.algorithm, one.protocol, comm.channels, 512, 0};
        const Prediction made = predict(s, comm, {Function::kAllReduce, bytes}, choice, parameters);
        EXPECT_GE(std::min({made.launch, made.hops, made.fill, made.transfer}), 0);
        // Chunks are smaller at some sizes, which may reduce the time a little.
        EXPECT_GE(made.us(), before * 0.9)
            << setup.machine << to_string(one.algorithm) << to_string(one.protocol) << bytes;
        before = made.us();
      }
    }
  }
}

TEST(NcclTime, LargeRingsAreLimitedByTheNarrowestLink) {
  // On two nodes of A100, a ring sends 2(n-1)/n of the buffer out of every node. At 64 GiB all
  // other costs are negligible.
  const Parameters parameters = shipped();
  const System s = machine("dgx-a100", 2);
  const Communicator comm = uniform(s);
  const std::int64_t bytes = std::int64_t{1} << 36;
  const Prediction made =
      predict(s, comm, {Function::kAllReduce, bytes},
              {Algorithm::kRing, Protocol::kSimple, comm.channels, 544, 0}, parameters);
  const double cards = 8 * 25 * parameters.of(Transport::kInfiniband, NetFigure::kShare);
  const double closed = static_cast<double>(bytes) * 2 * 15 / 16 / cards / 1e3;
  EXPECT_GE(made.us(), closed);
  EXPECT_LE(made.us(), 1.2 * closed)
      << made.narrowest;  // links that are nearly as narrow add a little
}

TEST(NcclTime, TreesHaveLogarithmicAndRingsLinearNumbersOfHops) {
  const Parameters parameters = shipped();
  const auto hops = [&](Algorithm algorithm, int nodes) {
    const System s = machine("hgx-h100", nodes);
    const Communicator comm = uniform(s);
    return predict(s, comm, {Function::kAllReduce, 1024}, {algorithm, Protocol::kLl, 1, 640, 0},
                   parameters)
        .hops;
  };
  const double level = 2 * parameters.of(Transport::kInfiniband, NetFigure::kHopLl);
  EXPECT_NEAR(hops(Algorithm::kTree, 16) - hops(Algorithm::kTree, 8), level, 1e-9);
  EXPECT_NEAR(hops(Algorithm::kTree, 64) - hops(Algorithm::kTree, 32), level, 1e-9);
  EXPECT_GT(hops(Algorithm::kRing, 64), 1.9 * hops(Algorithm::kRing, 32));
}

TEST(NcclTime, SmallerBuffersFillAPipelineSooner) {
  const Parameters parameters = shipped();
  const System s = machine("hgx-h100", 4);
  const auto fill = [&](const std::string& variable, const std::string& bytes, Protocol protocol) {
    const auto settings = read_settings({{variable, bytes}}, kDefaultVersion);
    const auto comm = uniform_communicator(s, kDefaultVersion, settings.value());
    return predict(s, *comm, {Function::kAllReduce, 1 << 30},
                   {Algorithm::kTree, protocol, 16, 640, 0}, parameters)
        .fill;
  };
  EXPECT_NEAR(fill("NCCL_BUFFSIZE", "4194304", Protocol::kSimple),
              2 * fill("NCCL_BUFFSIZE", "2097152", Protocol::kSimple), 1e-6);
  // With LL, only the levels between nodes wait for whole chunks.
  const auto ll = [&](const std::string& bytes) {
    return fill("NCCL_LL_BUFFSIZE", bytes, Protocol::kLl);
  };
  EXPECT_GT(ll("524288") - ll("262144"), 0);
  EXPECT_NEAR(ll("1048576") - ll("524288"), 2 * (ll("524288") - ll("262144")), 1e-6);
}

TEST(NcclTime, GpusForwardLinesWithLlAndChunksWithSimple) {
  const Parameters parameters = shipped();
  const System s = machine("dgx-a100", 1);
  const Communicator comm = uniform(s);
  const auto fill = [&](Function function, Algorithm algorithm, Protocol protocol,
                        std::int64_t bytes) {
    return predict(s, comm, {function, bytes}, {algorithm, protocol, 1, 640, 0}, parameters).fill;
  };
  for (const auto& [function, algorithm] : {std::pair(Function::kAllReduce, Algorithm::kTree),
                                            {Function::kBroadcast, Algorithm::kRing}}) {
    const auto grows = [&, f = function, a = algorithm](Protocol protocol, std::int64_t bytes) {
      return fill(f, a, protocol, 2 * bytes) / fill(f, a, protocol, bytes);
    };
    // LL moves 512 lines of 8 bytes at once, and LL128 640 threads' 60 bytes. Broadcasts with LL
    // follow each other without a visible fill (ll_broadcast_test.cpp).
    if (function == Function::kBroadcast) {
      EXPECT_EQ(fill(function, algorithm, Protocol::kLl, 4096), 0);
    } else {
      EXPECT_NEAR(grows(Protocol::kLl, 2048), 2, 1e-9);
      EXPECT_EQ(grows(Protocol::kLl, 4096), 1);
    }
    EXPECT_NEAR(grows(Protocol::kLl128, 4800), 2, 1e-9);
    EXPECT_EQ(grows(Protocol::kLl128, 38400), 1);
    EXPECT_NEAR(grows(Protocol::kSimple, 131072), 2, 1e-9);
  }
}

/// Returns the shipped parameters with one of them changed.
Parameters with(const std::string& name, double value) {
  Parameters changed = shipped();
  const auto found = std::find_if(changed.all().begin(), changed.all().end(),
                                  [&](const Parameter& p) { return p.name == name; });
  EXPECT_NE(found, changed.all().end()) << name;
  if (found != changed.all().end()) found->value = value;
  return changed;
}

TEST(NcclTime, LargeRingsInsideANodeTakeTransfersAndCopies) {
  // The ring takes n steps for a piece. The links carry (n-1)/n of an all-gather's buffer, and the
  // GPU copies its own 1/n.
  const Parameters parameters = shipped();
  const double links = 12 * 25 * parameters.of(GpuGeneration::kAmpere, GpuFigure::kNvlinkShare);
  const double copy = parameters.of(GpuGeneration::kAmpere, GpuFigure::kCopy);
  for (const int gpus : {2, 4, 8}) {
    const System s = machine("dgx-a100", 1, gpus);
    const std::int64_t bytes = std::int64_t{1} << 36;
    const Prediction made = predict(s, uniform(s), {Function::kAllGather, bytes},
                                    {Algorithm::kRing, Protocol::kSimple, 24, 544, 0}, parameters);
    const double closed = static_cast<double>(bytes) / gpus * ((gpus - 1) / links + 1 / copy) / 1e3;
    EXPECT_NEAR(made.us() / closed, 1, 0.01) << gpus;
  }
}

TEST(NcclTime, PartsOfACubeMeshAreLimitedByTheLinksOfTheirRings) {
  // SOURCE: bus bandwidth of 256 MiB on the first GPUs of eight V100, VIA-Research/vTrain. Five
  // GPUs are connected only through the links of a sixth GPU, which makes their ring slower.
  constexpr std::pair<int, double> kMeasured[] = {{2, 22.5}, {3, 45.1}, {4, 85.3},
                                                  {6, 45.6}, {7, 87.0}, {8, 133.6}};
  const Parameters parameters = shipped();
  for (const auto& [gpus, gb_per_s] : kMeasured) {
    const System s = machine("dgx1-v100", 1, gpus);
    const Communicator comm = uniform(s);
    const Prediction made =
        predict(s, comm, {Function::kAllReduce, 1 << 28},
                {Algorithm::kRing, Protocol::kSimple, comm.channels, 544, 0}, parameters);
    const double bus = (1 << 28) * 2.0 * (gpus - 1) / gpus / made.us() / 1e3;
    EXPECT_NEAR(bus / gb_per_s, 1, 0.12) << gpus;
  }
}

TEST(NcclTime, IsNeverBelowTheLaunchTimeOfTheHost) {
  const auto us = [](Driving driving, int nodes, std::int64_t bytes, double issue) {
    System s = machine("hgx-h100", nodes);
    s.driving = driving;
    return predict(s, uniform(s), {Function::kAllReduce, bytes},
                   {Algorithm::kRing, Protocol::kLl, 1, 512, 0}, with("host.issue", issue))
        .us();
  };
  for (const int nodes : {1, 2}) {
    EXPECT_NEAR(us(Driving::kOneThread, nodes, 8, 1000), 8000,
                1);  // for the eight GPUs of its node
    EXPECT_NEAR(us(Driving::kThreadPerGpu, nodes, 8, 1000), 1000, 1);
    EXPECT_NEAR(us(Driving::kProcessPerGpu, nodes, 8, 1000), 1000, 1);
  }
  const auto process = [&](std::int64_t bytes, double issue) {
    return us(Driving::kProcessPerGpu, 1, bytes, issue);
  };
  // The CPU issues the next operation while the kernel runs, so the shorter of both is hidden.
  const double kernel = process(8, 0.5);
  EXPECT_EQ(process(8, 1), kernel);
  EXPECT_DOUBLE_EQ(process(8, 0.99 * kernel), kernel);
  EXPECT_DOUBLE_EQ(process(8, 1.01 * kernel), 1.01 * kernel);
  EXPECT_EQ(process(1 << 28, 100), process(1 << 28, 1));
}

TEST(NcclTime, MessagesOfThreadsOfOneProcessAreSerialized) {
  const auto us = [](Driving driving, int gpus, double message) {
    System s = machine("hgx-h100", 1, gpus);
    s.driving = driving;
    return predict_sends(s, uniform(s), CollectiveKind::kAllToAll, 1024,
                         with("since_2_22.message", message))
        .us();
  };
  EXPECT_NEAR(us(Driving::kProcessPerGpu, 8, 1000), 7 * 1000, 10);
  EXPECT_NEAR(us(Driving::kThreadPerGpu, 8, 1000), 8 * 7 * 1000, 10);
  EXPECT_NEAR(us(Driving::kThreadPerGpu, 4, 1000), 4 * 3 * 1000, 10);
  EXPECT_NEAR(us(Driving::kThreadPerGpu, 8, 1e-3), us(Driving::kProcessPerGpu, 8, 1e-3), 0.1);
}

TEST(NcclTime, SmallMessagesInsideANodeUseLl) {
  const System s = machine("hgx-h100", 1);
  const Communicator comm = uniform(s);
  const auto us = [&](std::int64_t block, const Parameters& parameters) {
    return predict_sends(s, comm, CollectiveKind::kAllToAll, 8 * block, parameters).us();
  };
  EXPECT_NEAR(us(16384, with("hopper.launch_ll", 500)), 500, 20);
  EXPECT_LT(us(16384, with("hopper.launch_sends", 500)), 100);
  EXPECT_NEAR(us(16400, with("hopper.launch_sends", 500)), 500, 20);
  EXPECT_LT(us(16400, with("hopper.launch_ll", 500)), 100);
  EXPECT_GT(us(16400, shipped()), us(16384, shipped()));
}

TEST(NcclTime, LongMessagesTakeARendezvous) {
  const System s = machine("hgx-h100", 8);
  const auto hops = [&](std::int64_t bytes, double rendezvous) {
    return predict(s, uniform(s), {Function::kAllReduce, bytes},
                   {Algorithm::kTree, Protocol::kLl, 1, 512, 0},
                   with("verbs.rendezvous", rendezvous))
        .hops;
  };
  // LL sends twice its payload. A tree of 8 nodes has six hops between nodes.
  EXPECT_EQ(hops(8192, 50), hops(8192, 1));
  EXPECT_NEAR(hops(8200, 50) - hops(8200, 1), 6 * 49, 1e-9);
}

TEST(NcclTime, TheLimitOfANodeOverTcpIsNamed) {
  const auto limit = [](const System& s) {
    return std::string(predict(s, uniform(s), {Function::kAllReduce, 1 << 30},
                               {Algorithm::kRing, Protocol::kSimple, 16, 512, 0}, shipped())
                           .narrowest);
  };
  System s = machine("dgx-a100", 2, 8, "tcp");
  EXPECT_EQ(limit(s), "threads of TCP connections");
  s.sockets.host_gb_per_s = 1;
  EXPECT_THAT(limit(s), testing::HasSubstr("host_gb_per_s"));
  s.sockets.threads = 16;
  s.sockets.host_gb_per_s = 0;
  s.nic_gb_per_s = 1.25;
  s.nics = 1;
  EXPECT_EQ(limit(s), "network cards");
}

System polaris(int nodes, Matching matching) {
  System s = machine("dgx-a100", nodes, 4);
  s.inside = Inside::kPairs;
  s.gpus_of_machine = 4;
  s.nics = 2;
  s.nic_gb_per_s = 25;
  s.transport = Transport::kSlingshot;
  s.matching = matching;
  return s;
}

TEST(NcclTime, MessageMatchingByTheCpuTakesAConstantTimePerMessage) {
  // The ring all-gather of 8 nodes with 4 GPUs sends 31 messages over each link between nodes; that
  // of 2 nodes sends 7. On Polaris, 8 nodes took 190 us more and 2 nodes 40 us more (fi_cxi's
  // software match mode).
  const auto us = [](int nodes, Matching matching, double each) {
    const System s = polaris(nodes, matching);
    return predict(s, uniform(s), {Function::kAllGather, 1024},
                   {Algorithm::kRing, Protocol::kLl, 1, 512, 0},
                   with("slingshot.rendezvous", each));
  };
  EXPECT_NEAR(us(8, Matching::kByCpu, 1000).us() / 31e3, 1, 0.05);
  EXPECT_NEAR(us(2, Matching::kByCpu, 1000).us() / 7e3, 1, 0.05);
  EXPECT_STREQ(us(8, Matching::kByCpu, 1000).narrowest, "messages that a CPU handles");
  EXPECT_EQ(us(8, Matching::kByCard, 1000).us(), us(8, Matching::kByCard, 1).us());
  // Cards have limited memory for matching messages.
  EXPECT_GT(us(128, Matching::kByCard, 1000).us(), 2 * us(128, Matching::kByCard, 1).us());
}

TEST(NcclTime, CopiesByTheDriverLengthenEveryHopOfATree) {
  const auto hops = [](Matching matching, double each) {
    const System s = polaris(8, matching);
    return predict(s, uniform(s), {Function::kAllReduce, 1024},
                   {Algorithm::kTree, Protocol::kLl, 1, 512, 0}, with("slingshot.rendezvous", each))
        .hops;
  };
  EXPECT_NEAR(hops(Matching::kByCpuSlowly, 9) - hops(Matching::kByCpuSlowly, 1), 6 * 8, 1e-9);
  EXPECT_EQ(hops(Matching::kByCpu, 9), hops(Matching::kByCpu, 1));
}

TEST(NcclTime, WithoutNvswitchesPcieLimitsTheNics) {
  const auto cards = [](System s, const char* figure) {
    return predict(s, uniform(s), {Function::kAllReduce, std::int64_t{1} << 34},
                   {Algorithm::kRing, Protocol::kSimple, 4, 512, 0}, with(figure, 0.25))
        .cards;
  };
  const System slingshot = polaris(2, Matching::kByCard);
  const auto to_card = cards(slingshot, "pcie.share_to_card");
  EXPECT_NEAR(to_card.bytes / to_card.us / 1e3, 2 * 24 * 0.25, 1e-6);
  System staged = machine("dgx-a100", 2);
  staged.gpudirect = false;
  const auto by_host = cards(staged, "pcie.share_through_host");
  EXPECT_NEAR(by_host.bytes / by_host.us / 1e3, 8 * 24 * 0.25, 1e-6);
  const auto switched = cards(machine("dgx-a100", 2), "pcie.share_to_card");
  EXPECT_GT(switched.bytes / switched.us / 1e3, 8 * 25 * 0.9);
}

TEST(NcclTime, MulticastInARackHasItsOwnRateAndWaitsForAllHeads) {
  const System rack = machine("gb200-nvl72", 1);
  ASSERT_GT(rack.gpus, 8);
  const auto made = [](const System& s, const char* figure, double value) {
    return predict(s, uniform(s), {Function::kAllReduce, std::int64_t{1} << 34},
                   {Algorithm::kNvls, Protocol::kSimple, 16, 640, 0}, with(figure, value));
  };
  EXPECT_NEAR(made(rack, "blackwell.rack_share", 0.25).links.us /
                  made(rack, "blackwell.rack_share", 0.5).links.us,
              2, 1e-9);
  const System node = machine("dgx-b200", 1);
  EXPECT_EQ(made(node, "blackwell.rack_share", 0.25).us(),
            made(node, "blackwell.rack_share", 0.5).us());
  const int heads = uniform(rack).graphs.nvls.channels;
  EXPECT_NEAR(made(rack, "blackwell.nvls_latency", 50).hops, 50.0 * std::max(8, heads) / 8, 1e-9);
}

TEST(NcclTime, MessagesUseTheChannelsPerPeerOfThePointToPointRules) {
  const Parameters parameters = shipped();
  const System s = machine("dgx2", 1);
  const Communicator comm = uniform(s);
  ASSERT_EQ(comm.p2p.per_peer, 16) << "two per NVLink, rounded up to a power of two";
  const auto gb_per_s = [&](const Communicator& one) {
    constexpr std::int64_t kBytes = 1 << 30;
    return kBytes / predict_sends(s, one, CollectiveKind::kSendReceive, kBytes, parameters).us() /
           1e3;
  };
  EXPECT_GT(gb_per_s(comm), 0.8 * 150) << "six NVLinks of 25 GB/s";
  Communicator few = comm;
  few.p2p.per_peer = 2;
  EXPECT_NEAR(gb_per_s(few), 2 * parameters.of(s.generation, GpuFigure::kPeerChannel), 1);
}

TEST(NcclTime, EverySendAndReceiveHasATime) {
  const Parameters parameters = shipped();
  for (const OnMachines& setup : kSetups) {
    const System s = machine(setup.machine, setup.nodes);
    const Communicator comm = uniform(s);
    for (const CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kGather,
                                      CollectiveKind::kScatter, CollectiveKind::kSendReceive}) {
      double before = 0;
      for (std::int64_t bytes = 1 << 14; bytes <= std::int64_t{1} << 33; bytes *= 2) {
        const double us = predict_sends(s, comm, kind, bytes, parameters).us();
        EXPECT_GE(us, before * 0.8) << setup.machine << to_string(kind) << bytes;
        before = us;
      }
    }
  }
}

TEST(NcclMachines, HaveTheStructureThatNcclDetects) {
  const System h100 = machine("hgx-h100", 2);
  EXPECT_EQ(h100.generation, GpuGeneration::kHopper);
  EXPECT_EQ(h100.inside, Inside::kNvswitch);
  EXPECT_EQ(h100.nvlinks, 18);
  EXPECT_EQ(h100.nics, 8);
  EXPECT_EQ(h100.nic_gb_per_s, 50);
  EXPECT_EQ(h100.transport, Transport::kInfiniband);
  EXPECT_EQ(machine("dgx1-v100", 1).inside, Inside::kCubeMesh);
  EXPECT_EQ(machine("gb200-nvl72", 1).nvlinks, 18);
  EXPECT_EQ(machine("ec2-p4d-24xlarge", 2).transport, Transport::kEfaV1);
  EXPECT_EQ(machine("pcie-l40s", 1).inside, Inside::kPcie);
  EXPECT_EQ(machine("hgx-h100", 2, 4).nics, 4);
  EXPECT_EQ(machine("hgx-h100", 2, 8, "roce").transport, Transport::kRoce);
  EXPECT_EQ(machine("hgx-h100", 2, 8, "tcpxo").transport, Transport::kTcpxo);
  EXPECT_EQ(machine("dgx1-v100", 2, 8, "efa").transport, Transport::kEfaCopies);
}

std::vector<std::string> refusal(const std::string& name, int nodes, std::optional<int> gpus,
                                 const std::optional<std::string>& network) {
  const auto loaded =
      load_machine(test::source_folder() + "/scenarios/machines/" + name + ".textproto");
  return test::kinds_of(system_of(**loaded, nodes, gpus, network));
}

TEST(NcclMachines, AreRefusedWithAReasonIfTheyCannotBeModelled) {
  EXPECT_THAT(refusal("cpu-host", 2, {}, {}), ElementsAre("missing Machine.device"));
  EXPECT_THAT(refusal("ec2-p2-16xlarge", 1, {}, {}), ElementsAre("unsupported Device.gpu_model"));
  EXPECT_THAT(refusal("hgx-h100", 1, 9, {}), ElementsAre("too-large Machine.device"));
  EXPECT_THAT(refusal("hgx-h100", 2, {}, "pigeons"), ElementsAre("unknown-name --network"));
}

TEST(NcclMachines, UnknownGpusAreTimedAsTheNearestModelOnlyIfStated) {
  std::string text =
      *read_text_file(test::source_folder() + "/scenarios/machines/hgx-h100.textproto");
  const auto with_model = [&](const std::string& field) {
    std::string changed = text;
    const std::size_t at = changed.find("gpu_model: H100");
    EXPECT_NE(at, std::string::npos);
    changed.replace(at, std::string("gpu_model: H100").size(), field);
    return read_machine(changed, "mine.textproto");
  };
  EXPECT_THAT(test::kinds_of(system_of(**with_model(""), 1, {}, {})),
              ElementsAre("missing Device.gpu_model"));
  const auto nearest = with_model("nearest_gpu_model: H100");
  const auto made = system_of(**nearest, 1, {}, {});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(made->nearest_gpu);
  EXPECT_EQ(made->generation, GpuGeneration::kHopper);
  EXPECT_THAT(note_on_nearest_gpu(**nearest), testing::HasSubstr("parameters of H100"));
  const auto known = with_model("gpu_model: H100");
  EXPECT_FALSE(system_of(**known, 1, {}, {})->nearest_gpu);
  EXPECT_EQ(note_on_nearest_gpu(**known), "");
  EXPECT_THAT(test::kinds_of(with_model("gpu_model: H100 nearest_gpu_model: H100")),
              ElementsAre("conflict Device.nearest_gpu_model"));
  for (int m = 1; m <= static_cast<int>(GpuModel::kB200); ++m) {
    const auto model = static_cast<GpuModel>(m);
    const auto read = with_model("nearest_gpu_model: " + std::string(to_string(model)));
    EXPECT_EQ(read.has_value(), find_gpu(model) != nullptr) << to_string(model);
    if (read) continue;
    EXPECT_THAT(test::kinds_of(read), ElementsAre("unsupported Device.nearest_gpu_model"));
    EXPECT_GT(read.error().problems().front().where.line, 1);
    EXPECT_THAT(read.error().message(), testing::HasSubstr("P100, V100, T4"));
  }
  const auto none = system_of(**with_model(""), 1, {}, {});
  EXPECT_THAT(none.error().message(),
              AllOf(testing::HasSubstr("P100, V100, T4"), Not(testing::HasSubstr("K80"))));
}

TEST(NcclMachines, ATextThatNamesTwoGpusMeansTheFirst) {
  EXPECT_STREQ(find_gpu("NVIDIA A100 data sheet, share measured on V100")->name, "A100");
  EXPECT_STREQ(find_gpu("GH200-120GB")->name, "GH200");
  EXPECT_STREQ(find_gpu("GB200 NVL72")->name, "GB200");
  EXPECT_EQ(find_gpu("K80"), nullptr);
}

TEST(NcclParameters, WritingAndReadingPreserveTheShippedParameters) {
  const Parameters parameters = shipped();
  const auto again = Parameters::parse(parameters.to_csv(), "again");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->to_csv(), parameters.to_csv());
  EXPECT_EQ(Parameters::initial().all().size(), parameters.all().size());
}

/// Returns the problems of the shipped parameter file after `from` is replaced by `to`. Each has
/// the line of `from`, or no line if it concerns the whole file.
std::vector<std::string> broken(const std::string& from, const std::string& to) {
  std::string text = Parameters::initial().to_csv();
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto parsed = Parameters::parse(text, "mine.csv");
  const int line = static_cast<int>(std::count(
                       text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
                   1;
  std::vector<std::string> kinds = test::kinds_of(parsed);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const int where = parsed.error().problems()[i].where.line;
    kinds[i] += where == line ? " here" : where == 0 ? "" : " elsewhere";
  }
  return kinds;
}

TEST(NcclParameters, ErrorsAreReported) {
  EXPECT_THAT(broken("hopper.hop_ll,0.6", "hopper.hop_ll,fast"),
              ElementsAre("wrong-type value here"));
  EXPECT_THAT(broken("hopper.hop_ll,0.6", "hopper.hop_ll,-1"), ElementsAre("too-small value here"));
  EXPECT_THAT(broken("hopper.hop_ll,", "hopper.hip_ll,"),
              ElementsAre("missing hopper.hop_ll", "unknown-name name here"));
  EXPECT_THAT(broken("hopper.hop_ll,", "volta.hop_ll,"),
              ElementsAre("missing hopper.hop_ll", "duplicate volta.hop_ll here"));
  EXPECT_THAT(broken("hopper.hop_ll,0.6,us", "hopper.hop_ll,0.6,ms"),
              ElementsAre("conflict unit here"));
  EXPECT_THAT(broken("name,value", "name,worth"), ElementsAre("missing value here"));
}

TEST(NcclErrorBands, ContainThePrediction) {
  const auto bands = ErrorBands::load(test::source_folder() + "/scenarios");
  ASSERT_TRUE(bands) << bands.error().message();
  for (const int nodes : {1, 2, 64}) {
    for (std::int64_t bytes = 8; bytes < std::int64_t{1} << 35; bytes *= 8) {
      for (const KnownFrom network : {KnownFrom::kSeveral, KnownFrom::kOne, KnownFrom::kNone}) {
        const ErrorBand band =
            bands->of(nodes, bytes, {network, Driving::kProcessPerGpu, CollectiveKind::kAllReduce});
        EXPECT_LT(band.low, 1.0);
        EXPECT_GT(band.high, 1.0);
      }
    }
  }
  EXPECT_EQ(ErrorBands::parse(bands->to_csv(), "again")->to_csv(), bands->to_csv());
  const std::string text =
      "part,name,low,high,widen\none node,below 64 KiB,1,2,1\none node,below 64 "
      "KiB,2,1,1\ndriving,by nobody,1,1,1\n";
  const std::vector<test::Mistake> mistakes{
      {ProblemCode::kMissing, ""},
      test::at(text, ",2,1\n^one node", ProblemCode::kDuplicate, "part"),
      test::at(text, "KiB,^2,1,1", ProblemCode::kConflict, "low"),
      test::at(text, "driving", ProblemCode::kUnknownName, "part")};
  EXPECT_THAT(ErrorBands::parse(text, "mine.csv"), test::FailsWithAll(mistakes));
}

TEST(NcclErrorBands, FactorsScaleTheLogarithmsOfTheirEnds) {
  ErrorBands bands;
  bands.at(true, 0) = {0.5, 4};
  const BandFacts facts{KnownFrom::kNone, Driving::kOneThread, CollectiveKind::kScatter, true};
  EXPECT_EQ(bands.of(2, 8, facts).high, 4);
  for (const std::size_t k : ErrorBands::factors_of(facts)) bands.factors()[k].value = 2;
  EXPECT_NEAR(bands.of(2, 8, facts).low, std::pow(0.5, 16), 1e-12);
  EXPECT_NEAR(bands.of(2, 8, facts).high, std::pow(4.0, 16), 1e-3);
  EXPECT_EQ(bands.of(2, 8, {}).high, 4);
  EXPECT_EQ(
      bands.of(2, 8, {KnownFrom::kSeveral, Driving::kProcessPerGpu, CollectiveKind::kGather}).high,
      16);
}

TEST(NcclErrorBands, AreWiderForGpusThatAreTimedAsTheNearestKnownModel) {
  const auto bands = ErrorBands::load(test::source_folder() + "/scenarios");
  ASSERT_TRUE(bands) << bands.error().message();
  const Parameters parameters = shipped();
  for (const int nodes : {1, 2}) {
    System s = machine("hgx-h100", nodes);
    const auto band = [&] {
      return bands->of(nodes, 1 << 20, band_facts(s, CollectiveKind::kAllReduce, parameters));
    };
    const ErrorBand known = band();
    s.nearest_gpu = true;
    const ErrorBand nearest = band();
    EXPECT_GT(std::log(nearest.high) / std::log(known.high), 1.2);
    EXPECT_NEAR(std::log(nearest.high) / std::log(known.high),
                std::log(nearest.low) / std::log(known.low), 1e-9);
  }
}

TEST(NcclErrorBands, DependOnTheNumberOfMeasuredSystemsOfTheNetwork) {
  const Parameters parameters = shipped();
  EXPECT_GT(parameters.systems(Transport::kInfiniband), 5U);
  EXPECT_EQ(parameters.systems(Transport::kTcpx), 1U);
  EXPECT_EQ(parameters.systems(Transport::kTcp), 0U);
  System s = machine("hgx-h100", 2);
  EXPECT_EQ(band_facts(s, CollectiveKind::kAllReduce, parameters).network, KnownFrom::kSeveral);
  s.transport = Transport::kTcp;
  EXPECT_EQ(band_facts(s, CollectiveKind::kAllReduce, parameters).network, KnownFrom::kNone);
  s.nodes = 1;
  EXPECT_EQ(band_facts(s, CollectiveKind::kAllReduce, parameters).network, KnownFrom::kSeveral);
}

TEST(NcclTime, OtherAlgorithmsHaveTheShortestLaunchByDefault) {
  const Parameters parameters = shipped();
  double shortest = parameters.of(GpuGeneration::kVolta, GpuFigure::kLaunchLl);
  for (const auto generation :
       {GpuGeneration::kAmpere, GpuGeneration::kHopper, GpuGeneration::kBlackwell})
    shortest = std::min(shortest, parameters.of(generation, GpuFigure::kLaunchLl));
  EXPECT_NEAR(to_us(kGpuLaunch), shortest, 0.05) << "state the new value in Strategy's header";
}

}  // namespace
}  // namespace tutti::core::nccl
