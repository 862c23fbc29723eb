// Execution plans of MSCCL++. Exported plans can be imported again without change. One-sided
// operations become two-sided messages, and races and deadlocks of a plan are detected. Features
// that Tutti does not support are rejected with their name and place.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/custom/mscclpp/mscclpp.h"
#include "core/schedule/checker.h"
#include "core/schedule/print.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using custom::to_mscclpp;
using test::algorithm_of;
using test::placed;

std::string wrong_plan(const std::string& text, std::int32_t ranks = 2) {
  Problems problems;
  algorithm_of(text, {ranks, 1, 0}, problems);
  return placed(problems);
}

/// Returns a plan of two GPUs that reduce in place, with a memory channel and a port channel to
/// each other. `blocks`: the operations of each thread block. "@" stands for the GPU's own number,
/// "~" for that of the other GPU.
std::string pair_plan(const std::vector<std::string>& blocks, const std::string& head = "",
                      const std::string& more = "") {
  std::string text =
      "{\"name\": \"pair\", \"collective\": \"allreduce\", \"protocol\": "
      "\"Simple\", \"inplace\": true" +
      head + ",\n\"gpus\": [";
  for (int gpu = 0; gpu < 2; ++gpu) {
    std::string one =
        "{\"id\": @, \"input_chunks\": 2, \"output_chunks\": 2, \"scratch_chunks\": "
        "2, \"threadblocks\": [";
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      one += fmt::format("{}{{\"id\": {}, \"ops\": [\n", b == 0 ? "" : ", ", b) + blocks[b] +
             "\n], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}, "
             "{\"channel_type\": \"port\", \"channel_ids\": [0]}, {\"channel_type\": \"switch\", "
             "\"channel_ids\": [0]}], \"remote_buffer_refs\": [{\"access_channel_type\": "
             "\"memory\", \"remote_buffer_ids\": [0, 1]}, {\"access_channel_type\": \"port\", "
             "\"remote_buffer_ids\": [0, 1]}]}";
    }
    one +=
        "],\n\"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [~]}, "
        "{\"channel_type\": \"port\", \"connected_to\": [~]}, {\"channel_type\": \"switch\", "
        "\"buffer_type\": \"i\", \"rank_groups\": [{\"size\": 2, \"ranks\": [0, 1]}]}], "
        "\"remote_buffers\": [{\"rank\": ~, \"type\": \"i\", \"access_channel_types\": "
        "[\"memory\", \"port\"]}, {\"rank\": ~, \"type\": \"s\", \"access_channel_types\": "
        "[\"memory\", \"port\"]}], \"semaphores\": [{\"init_value\": 0}]" +
        more + "}";
    std::replace(one.begin(), one.end(), '@', gpu == 0 ? '0' : '1');
    std::replace(one.begin(), one.end(), '~', gpu == 0 ? '1' : '0');
    text += (gpu == 0 ? "" : ", ") + one;
  }
  return text + "]}";
}

std::string op(const std::string& name, const std::string& more = "") {
  return "{\"name\": \"" + name + "\"" + (more.empty() ? "" : ", " + more) + "}";
}
std::string at(const std::string& type, int index, int size = 1) {
  return fmt::format("{{\"type\": \"{}\", \"index\": {}, \"size\": {}}}", type, index, size);
}
std::string remote_range(int buffer, const std::string& index, int size = 1) {
  return fmt::format("{{\"buffer_id\": {}, \"index\": {}, \"size\": {}}}", buffer, index, size);
}
std::string remote_range(int buffer, int index, int size = 1) {
  return remote_range(buffer, std::to_string(index), size);
}
std::string moves(const std::string& name, const std::string& from, const std::string& to,
                  const std::string& type = "memory") {
  return op(name, "\"src_buff\": [" + from + "], \"dst_buff\": [" + to +
                      "], \"channel_ids\": [0], \"channel_type\": \"" + type + "\"");
}
std::string on(const std::string& name, const std::string& type = "memory") {
  return op(name, "\"channel_ids\": [0], \"channel_type\": \"" + type + "\"");
}
std::string all(const std::vector<std::string>& ops) {
  return fmt::format("{}", fmt::join(ops, ",\n"));
}

std::vector<Violation> proof(const std::string& text, std::int64_t elements = 6) {
  Problems problems;
  const auto algorithm = algorithm_of(text, {2, 1, 0}, problems);
  EXPECT_EQ(placed(problems), "") << text;
  if (!algorithm) return {};
  return check(*algorithm->schedule(algorithm->padded(elements), 0, Engine::kKernel),
               Contract::all_reduce(2, algorithm->padded(elements)));
}

/// Returns operations by which each GPU sends all its data to the other's scratch buffer, and then
/// adds what it has received.
std::string exchange(const std::string& type = "memory") {
  return all({moves("put", at("i", 0, 2), remote_range(1, 0, 2), type), on("signal", type),
              on("wait", type), op("nop"),
              op("re", "\"src_buff\": [" + at("i", 0, 2) + ", " + at("s", 0, 2) +
                           "], \"dst_buff\": [" + at("i", 0, 2) + "]")});
}

TEST(MscclPp, APutWithASignalIsAMessage) {
  Problems problems;
  const auto algorithm = algorithm_of(pair_plan({exchange()}), {2, 1, 0}, problems);
  ASSERT_EQ(placed(problems), "");
  const auto schedule = algorithm->schedule(6, 0, Engine::kKernel);
  ASSERT_EQ(schedule->lanes(0), 1);
  ASSERT_EQ(schedule->steps(0, 0), 2);
  EXPECT_EQ(schedule->step(0, 0, 0).kind, StepKind::kSend);
  EXPECT_EQ(schedule->step(0, 0, 1).kind, StepKind::kReceiveReduce);
  EXPECT_EQ(schedule->scratch(0), 0);
  EXPECT_EQ(proof(pair_plan({exchange()})), std::vector<Violation>());
  EXPECT_EQ(algorithm->place_of(1, 0, 0)->line, 10);
  EXPECT_EQ(algorithm->padded(7), 8);
}

TEST(MscclPp, PortsSendThroughAProxyUntilAFlush) {
  // The source is overwritten while the proxy may still read from it.
  EXPECT_EQ(proof(pair_plan({exchange("port")})).front().kind, ViolationKind::kRace);
  const std::string flushed =
      all({moves("put", at("i", 0, 2), remote_range(1, 0, 2), "port"), on("signal", "port"),
           on("flush", "port"), on("wait", "port"),
           op("re", "\"src_buff\": [" + at("i", 0, 2) + ", " + at("s", 0, 2) +
                        "], \"dst_buff\": [" + at("i", 0, 2) + "]")});
  EXPECT_EQ(proof(pair_plan({flushed})), std::vector<Violation>());
}

TEST(MscclPp, ARemoteReadIsARequestAndAReply) {
  const auto half = [](const char* name, bool sends) {
    std::string both;
    return op(name, std::string("\"channel_type\": \"memory\", \"src_buff\": [") +
                        "{\"type\": \"i\", \"index\": @, \"size\": 1}, " + remote_range(0, "@") +
                        "], \"dst_buff\": [{\"type\": \"i\", \"index\": @, \"size\": 1}" +
                        (sends ? ", " + remote_range(0, "@") : "") + "]");
  };
  EXPECT_EQ(proof(pair_plan({all({half("rres", true), on("signal"), on("wait")})})),
            std::vector<Violation>());
  // Without the store to the other GPU, half of the sum is missing there.
  EXPECT_EQ(proof(pair_plan({all({half("rre", false), on("signal"), on("wait")})})).front().kind,
            ViolationKind::kWrongSum);
  const std::string get =
      op("get", "\"channel_type\": \"memory\", \"src_buff\": [" + remote_range(0, 0, 2) +
                    "], \"dst_buff\": [" + at("s", 0, 2) + "]");
  const std::string add = op("re", "\"src_buff\": [" + at("s", 0, 2) + ", " + at("i", 0, 2) +
                                       "], \"dst_buff\": [" + at("i", 0, 2) + "]");
  EXPECT_EQ(proof(pair_plan({all({get, on("signal"), on("wait"), add})})),
            std::vector<Violation>());
  EXPECT_EQ(proof(pair_plan({all({get, add})})).front().kind, ViolationKind::kRace);
}

TEST(MscclPp, PacketsNeedNoSignal) {
  const std::string plan =
      pair_plan({all({moves("ppkt", at("i", 0, 2), remote_range(1, 0, 2)),
                      op("repkt", "\"src_buff\": [" + at("i", 0, 2) + ", " + at("s", 0, 2) +
                                      "], \"dst_buff\": [" + at("i", 0, 2) + "]")})});
  EXPECT_EQ(proof(plan), std::vector<Violation>());
  // No operation writes these packets.
  const auto never = proof(pair_plan(
      {op("upkt", "\"src_buff\": [" + at("s", 0) + "], \"dst_buff\": [" + at("i", 0) + "]")}));
  ASSERT_FALSE(never.empty());
  EXPECT_EQ(never.front().kind, ViolationKind::kDeadlock);
}

TEST(MscclPp, SwitchesReduceAndMulticast) {
  const std::string own = "{\"switch_channel_id\": 0, \"index\": @, \"size\": 1}";
  const std::string plan =
      pair_plan({all({on("rlxsignal"), on("rlxwait"),
                      op("glres", "\"channel_type\": \"switch\", \"src_buff\": [" + own +
                                      "], \"dst_buff\": [" + own + "]"),
                      on("signal"), on("wait")})});
  EXPECT_EQ(proof(plan), std::vector<Violation>());
  // Without the first signals, the other GPU may not have started.
  const std::string early =
      pair_plan({all({op("glres", "\"channel_type\": \"switch\", \"src_buff\": [" + own +
                                      "], \"dst_buff\": [" + own + "]"),
                      on("signal"), on("wait")})});
  EXPECT_EQ(proof(early).front().kind, ViolationKind::kReadBeforeMessage);
}

TEST(MscclPp, BarriersAndSemaphoresOrderThreadBlocks) {
  const std::string send = all({moves("put", at("i", 0, 2), remote_range(1, 0, 2)), "BETWEEN"});
  const std::string add = all({"BETWEEN", on("signal"), on("wait"),
                               op("re", "\"src_buff\": [" + at("i", 0, 2) + ", " + at("s", 0, 2) +
                                            "], \"dst_buff\": [" + at("i", 0, 2) + "]")});
  const auto with = [&](const std::string& first, const std::string& second) {
    std::string a = send;
    std::string b = add;
    a.replace(a.find("BETWEEN"), 7, first);
    b.replace(b.find("BETWEEN"), 7, second);
    return pair_plan({a, b});
  };
  const std::string barrier = op("barrier", "\"barrier_id\": 0, \"num_threadblocks\": 2");
  EXPECT_EQ(proof(with(barrier, barrier)), std::vector<Violation>());
  EXPECT_EQ(proof(with(op("sem_release", "\"semaphore_ids\": [0]"),
                       op("sem_acquire", "\"semaphore_ids\": [0]"))),
            std::vector<Violation>());
  EXPECT_EQ(proof(with(op("nop"), op("nop"))).front().kind, ViolationKind::kNeverWritten);
  // One thread block waits for a semaphore that is never released; in the other case, one thread
  // block never reaches the barrier.
  EXPECT_EQ(proof(with(op("nop"), op("sem_acquire", "\"semaphore_ids\": [0]"))).front().kind,
            ViolationKind::kDeadlock);
  EXPECT_EQ(proof(with(op("nop"), barrier)).front().kind, ViolationKind::kDeadlock);
}

TEST(MscclPp, DeadlocksAreReportedWithTheirCycle) {
  const std::string text = pair_plan({all({on("wait"), on("signal")})});
  const auto found = proof(text);
  ASSERT_EQ(found.front().kind, ViolationKind::kDeadlock);
  EXPECT_GE(found.size(), 2U);
}

TEST(MscclPp, PipelinesHaveOneRoundPerUnitOfBytes) {
  const auto plan = [](int unit) {
    return pair_plan({op("pipeline", fmt::format("\"iter_context\": {{\"unit_size\": {}, "
                                                 "\"num_chunks\": 2}}, \"ops\": [{}]",
                                                 unit, exchange()))});
  };
  Problems problems;
  const auto algorithm = algorithm_of(plan(16), {2, 1, 0}, problems);
  ASSERT_EQ(placed(problems), "");
  // 40 elements of 4 bytes are 10 rounds of 16 bytes. 40 elements of 2 bytes are 5 rounds.
  EXPECT_EQ(algorithm->schedule(40, 0, Engine::kKernel, 4)->steps(0, 0), 20);
  EXPECT_EQ(algorithm->schedule(40, 0, Engine::kKernel, 2)->steps(0, 0), 10);
  for (const int elements : {0, 2, 6, 40, 42})
    EXPECT_EQ(proof(plan(16), elements), std::vector<Violation>());
  EXPECT_NE(algorithm->note().find("1024 rounds"), std::string::npos);
}

TEST(MscclPp, ThreadBlockGroupsDivideTheirRanges) {
  const auto part = [](int i) {
    const std::string group = fmt::format("\"tbg_info\": {{\"tb_id\": {}, \"tbg_size\": 2}}", i);
    return all({op("put", "\"src_buff\": [" + at("i", 0, 2) + "], \"dst_buff\": [" +
                              remote_range(1, 0, 2) + "], \"channel_type\": \"memory\", " + group),
                op("barrier", "\"barrier_id\": 0, \"num_threadblocks\": 2"),
                i == 0 ? all({on("signal"), on("wait")}) : op("nop"),
                op("barrier", "\"barrier_id\": 1, \"num_threadblocks\": 2"),
                op("re", "\"src_buff\": [" + at("i", 0, 2) + ", " + at("s", 0, 2) +
                             "], \"dst_buff\": [" + at("i", 0, 2) + "], " + group)});
  };
  for (const int elements : {2, 6, 100})
    EXPECT_EQ(proof(pair_plan({part(0), part(1)}), elements), std::vector<Violation>());
}

TEST(MscclPp, ErrorsHaveCodesAndPositions) {
  const auto with = [](const std::string& one) { return wrong_plan(pair_plan({one})); };
  EXPECT_EQ(wrong_plan("{"), "1:2 syntax");
  EXPECT_EQ(wrong_plan("{}"), "1:1 missing collective");
  EXPECT_EQ(wrong_plan("{\"collective\": \"test\"}"), "1:16 unsupported collective");
  EXPECT_EQ(wrong_plan(pair_plan({exchange()}), 3), "0:0 conflict gpus");
  EXPECT_EQ(wrong_plan(pair_plan({exchange()}, ", \"new\": 1")), "1:84 unknown-field new");
  const auto first = [](const std::string& all) { return all.substr(0, all.find('\n')); };
  EXPECT_EQ(first(with(op("fly"))), "3:1 unknown-name name");
  EXPECT_EQ(first(with(on("signal", "radio"))), "3:1 unknown-name channel_type");
  EXPECT_EQ(first(with(op("signal", "\"channel_ids\": [7], \"channel_type\": \"memory\""))),
            "3:36 invalid channel_ids");
  EXPECT_EQ(first(with(op(
                "copy", "\"src_buff\": [" + at("x", 0) + "], \"dst_buff\": [" + at("s", 0) + "]"))),
            "3:31 unknown-name type");
  EXPECT_EQ(first(with(op("copy", "\"src_buff\": [" + at("i", 1, 2) + "], \"dst_buff\": [" +
                                      at("s", 0, 2) + "]"))),
            "3:31 too-large index");
  EXPECT_EQ(first(with(op("copy", "\"src_buff\": [" + at("i", 0, 2) + "], \"dst_buff\": [" +
                                      at("s", 0, 1) + "]"))),
            "3:1 conflict size");
  EXPECT_EQ(first(with(moves("put", at("i", 0), at("s", 0)))), "3:1 conflict src_buff");
  EXPECT_EQ(first(with(op("re", "\"reduce_op\": \"min\", \"src_buff\": [" + at("i", 0) +
                                    "], \"dst_buff\": [" + at("i", 0) + "]"))),
            "3:1 unsupported reduce_op");
}

// --- export and import ---

/// A lane without its no-op steps, which execution plans do not have. Wait positions count all
/// steps, so `before` converts them.
struct PlainLane {
  std::vector<Step> steps;
  std::vector<std::int64_t> before;  ///< entry i: how many of the first i steps are not no-ops
};

PlainLane plain(const Schedule& schedule, Rank rank, Lane lane) {
  PlainLane made{{}, {0}};
  Wait pending;
  for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
    Step step = schedule.step(rank, lane, i);
    if (step.wait.lane < 0) step.wait = std::exchange(pending, {});
    if (step.kind == StepKind::kNop) {
      pending = step.wait;
    } else {
      made.steps.push_back(step);
    }
    made.before.push_back(static_cast<std::int64_t>(made.steps.size()));
  }
  return made;
}

void expect_same_steps(const Schedule& wanted, const Schedule& read) {
  const std::int32_t ranks = wanted.ranks();
  for (Rank rank = 0; rank < ranks; ++rank) {
    ASSERT_EQ(read.lanes(rank), wanted.lanes(rank));
    std::vector<PlainLane> first, second;
    for (Lane lane = 0; lane < wanted.lanes(rank); ++lane) {
      first.push_back(plain(wanted, rank, lane));
      second.push_back(plain(read, rank, lane));
    }
    const auto waits = [](const std::vector<PlainLane>& lanes, const Wait& wait) {
      return wait.lane < 0 ? -1 : lanes[wait.lane].before[wait.count];
    };
    for (std::size_t lane = 0; lane < first.size(); ++lane) {
      ASSERT_EQ(second[lane].steps.size(), first[lane].steps.size()) << rank << ' ' << lane;
      std::map<Lane, std::int64_t> known;  // a wait that an earlier wait implies may be omitted
      for (std::size_t i = 0; i < first[lane].steps.size(); ++i) {
        const Step& a = first[lane].steps[i];
        const Step& b = second[lane].steps[i];
        SCOPED_TRACE(fmt::format("rank {} lane {} step {}: {} and {}", rank, lane, i,
                                 to_string(a.kind), to_string(b.kind)));
        ASSERT_EQ(a.kind, b.kind);
        const std::int64_t until = waits(first, a.wait);
        if (until > known[a.wait.lane]) {
          EXPECT_EQ(a.wait.lane, b.wait.lane);
          EXPECT_EQ(until, waits(second, b.wait));
          known[a.wait.lane] = until;
        }
        if (sends(a.kind)) {
          EXPECT_EQ(a.to.rank(rank, ranks), b.to.rank(rank, ranks));
          EXPECT_EQ(a.to.lane, b.to.lane);
        }
        if (receives(a.kind)) {
          EXPECT_EQ(a.from.rank(rank, ranks), b.from.rank(rank, ranks));
          EXPECT_EQ(a.from.lane, b.from.lane);
        }
        if (a.kind != StepKind::kReceive && a.kind != StepKind::kReceiveSend) {
          EXPECT_EQ(a.source, b.source);
        }
        if (a.kind != StepKind::kSend && a.kind != StepKind::kReceiveReduceSend) {
          EXPECT_EQ(a.target, b.target);
        }
      }
    }
  }
}

void expect_read_again(const Schedule& schedule, const Contract& contract, std::int32_t per_node,
                       bool step_for_step) {
  const auto text = to_mscclpp(schedule, contract, "a \"name\"\n\\", per_node);
  ASSERT_TRUE(text) << text.error().message();
  Problems problems;
  const auto again = algorithm_of(*text, {schedule.ranks(), 1, 0}, problems);
  ASSERT_EQ(placed(problems), "") << *text;
  for (const std::int64_t factor : {1, 3}) {
    Contract larger = Contract::of(contract.kind, schedule.ranks(), contract.elements * factor, 0,
                                   contract.input_shift > 0);
    EXPECT_EQ(check(*again->schedule(larger.elements, larger.input_shift, Engine::kKernel), larger),
              std::vector<Violation>());
  }
  if (!step_for_step) return;
  expect_same_steps(schedule,
                    *again->schedule(contract.elements, contract.input_shift, Engine::kKernel));
}

TEST(MscclPp, ReadsItsOwnExport) {
  for (const std::string& name : test::shipped_algorithms()) {
    for (const std::int32_t ranks : {2, 4, 6, 8}) {
      for (const std::int32_t per_node : {ranks, 2}) {
        SCOPED_TRACE(fmt::format("{}, {} ranks, {} of a node", name, ranks, per_node));
        Problems problems;
        const auto algorithm = algorithm_of(test::text_of_algorithm(name), {ranks, 2, 0}, problems);
        if (!algorithm) continue;
        const bool out = !can_be_in_place(algorithm->kind());
        const auto contract =
            Contract::of(algorithm->kind(), ranks, *algorithm->even_elements(), 0, out);
        const auto schedule =
            algorithm->schedule(contract.elements, contract.input_shift, Engine::kKernel);
        if (algorithm->switch_use() != SwitchUse::kNone) {
          EXPECT_FALSE(to_mscclpp(*schedule, contract, name, per_node));
          continue;
        }
        expect_read_again(*schedule, contract, per_node, true);
      }
    }
  }
}

TEST(MscclPp, ReadsExportedBuiltInAlgorithms) {
  RingOptions options;
  options.lanes = {RingPath{4, {0, 1, 2, 3}}, RingPath{4, {3, 1, 0, 2}}};
  expect_read_again(*ring_all_reduce(8, 16, options), Contract::all_reduce(8, 16), 4, true);
  options.input_shift = 16;
  expect_read_again(*ring_all_reduce(8, 16, options),
                    Contract::of(CollectiveKind::kAllReduce, 8, 16, 0, true), 8, true);
  expect_read_again(*recursive_doubling_all_reduce(8, 1, Engine::kKernel),
                    Contract::all_reduce(8, 1), 4, false);
}

TEST(MscclPp, RefusesToExportUnsupportedAlgorithms) {
  const auto broadcast = Contract::of(CollectiveKind::kBroadcast, 4, 8, 0, false);
  EXPECT_FALSE(to_mscclpp(*ring_all_reduce(4, 8), broadcast, "b", 4));
}

}  // namespace
}  // namespace tutti::core
