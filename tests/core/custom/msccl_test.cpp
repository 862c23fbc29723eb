// MSCCL's XML. Exported algorithms can be imported again without change. Features that the format
// or Tutti does not support are rejected, and the error names them.

#include <gtest/gtest.h>

#include <bit>

#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/custom/msccl.h"
#include "core/schedule/checker.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using custom::to_msccl;
using test::algorithm_of;
using test::placed;

std::string wrong_xml(const std::string& text, std::int32_t ranks = 2) {
  Problems problems;
  algorithm_of(text, {ranks, 1, 0}, problems);
  return placed(problems);
}

/// Returns the XML of two GPUs that exchange their halves of the sum.
std::string pair_xml(const std::string& head = "", const std::string& steps = "") {
  std::string text = fmt::format(
      "<algo name=\"pair\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" "
      "coll=\"allreduce\" "
      "inplace=\"1\"{}>\n",
      head);
  for (int gpu = 0; gpu < 2; ++gpu) {
    const int other = 1 - gpu;
    text += fmt::format(
        "<gpu id=\"{}\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"0\"><tb id=\"0\" send=\"{}\" "
        "recv=\"{}\" chan=\"0\">\n"
        "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"i\" dstoff=\"{}\" cnt=\"1\" "
        "depid=\"-1\" "
        "deps=\"-1\" "
        "hasdep=\"0\"/>\n"
        "<step s=\"1\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"i\" dstoff=\"{}\" "
        "cnt=\"1\" depid=\"-1\" "
        "deps=\"-1\" hasdep=\"0\"/>\n"
        "<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"i\" dstoff=\"{}\" cnt=\"1\" "
        "depid=\"-1\" "
        "deps=\"-1\" "
        "hasdep=\"0\"/>\n{}</tb></gpu>\n",
        gpu, other, other, gpu, gpu, other, other, gpu, gpu, gpu == 0 ? steps : "");
  }
  return text + "</algo>\n";
}

TEST(Msccl, IsReadAndProved) {
  Problems problems;
  const auto algorithm = algorithm_of(pair_xml(), {2, 1, 0}, problems);
  ASSERT_EQ(placed(problems), "");
  for (const std::int64_t elements : {0, 2, 100})
    EXPECT_EQ(check(*algorithm->schedule(elements, 0, Engine::kKernel),
                    Contract::all_reduce(2, elements)),
              std::vector<Violation>());
  EXPECT_EQ(algorithm->padded(7), 8);
  EXPECT_EQ(algorithm->place_of(1, 0, 2)->line, 10);
}

TEST(Msccl, ErrorsHaveCodesAndPositions) {
  const auto with = [](const std::string& step) { return wrong_xml(pair_xml("", step)); };
  EXPECT_EQ(wrong_xml("<algo"), "1:5 syntax");
  EXPECT_EQ(wrong_xml("<graphs/>"), "1:2 unknown-name graphs");
  EXPECT_EQ(wrong_xml("<algo/>"), "1:2 unsupported algo.coll");
  EXPECT_EQ(wrong_xml(pair_xml(), 3), "0:0 conflict algo.ngpus");
  EXPECT_EQ(wrong_xml(pair_xml(" redop=\"max\"")), "1:2 unsupported algo.redop");
  EXPECT_EQ(with("<op/>"), "6:2 unsupported op");
  EXPECT_EQ(with("<step s=\"3\" type=\"reduce\"/>"), "6:2 unknown-name step.type");
  EXPECT_EQ(with("<step s=\"5\" type=\"nop\"/>"), "6:2 conflict step.s");
  EXPECT_EQ(with("<step s=\"3\" type=\"nop\" depid=\"4\" deps=\"0\"/>"),
            "6:2 unknown-name step.depid");
  EXPECT_EQ(with("<step s=\"3\" type=\"nop\" depid=\"0\" deps=\"9\"/>"), "6:2 conflict step.deps");
  EXPECT_EQ(with("<step s=\"3\" type=\"cpy\" srcbuf=\"x\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" "
                 "cnt=\"1\"/>"),
            "6:2 unknown-name step.srcbuf");
  EXPECT_EQ(with("<step s=\"3\" type=\"cpy\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"s\" dstoff=\"0\" "
                 "cnt=\"2\"/>"),
            "6:2 too-large step.srcoff\n6:2 too-large step.dstoff");
}

TEST(Msccl, RefusesBlocksWithoutPeers) {
  std::string text = pair_xml();
  text.replace(text.find("recv=\"1\""), 8, "recv=\"-1\"");
  EXPECT_EQ(wrong_xml(text), "4:2 conflict step.type\n5:2 conflict step.type");
}

void expect_read_again(const Schedule& schedule, const Contract& contract, bool step_for_step) {
  const auto text = to_msccl(schedule, contract, "a \"name\" & more");
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
  const auto read = again->schedule(contract.elements, contract.input_shift, Engine::kKernel);
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    ASSERT_EQ(read->lanes(rank), schedule.lanes(rank));
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      ASSERT_EQ(read->steps(rank, lane), schedule.steps(rank, lane));
      for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
        const Step a = schedule.step(rank, lane, i);
        const Step b = read->step(rank, lane, i);
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.wait.lane, b.wait.lane);
        EXPECT_EQ(a.wait.count, b.wait.count);
        if (sends(a.kind)) {
          EXPECT_EQ(a.to.rank(rank, schedule.ranks()), b.to.rank(rank, schedule.ranks()));
        }
        if (receives(a.kind)) {
          EXPECT_EQ(a.from.rank(rank, schedule.ranks()), b.from.rank(rank, schedule.ranks()));
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

TEST(Msccl, ReadsItsOwnExport) {
  for (const std::string& name : test::shipped_algorithms()) {
    for (const std::int32_t ranks : {2, 4, 6, 8}) {
      SCOPED_TRACE(fmt::format("{}, {} ranks", name, ranks));
      Problems problems;
      const auto algorithm = algorithm_of(test::text_of_algorithm(name), {ranks, 2, 0}, problems);
      if (!algorithm) continue;
      const bool out = !can_be_in_place(algorithm->kind());
      const auto contract =
          Contract::of(algorithm->kind(), ranks, *algorithm->even_elements(), 0, out);
      const auto schedule =
          algorithm->schedule(contract.elements, contract.input_shift, Engine::kKernel);
      if (algorithm->switch_use() != SwitchUse::kNone) {
        EXPECT_FALSE(to_msccl(*schedule, contract, name));
        continue;
      }
      const bool one_peer_each_way = name == "ring" || name == "bidirectional_ring";
      expect_read_again(*schedule, contract, one_peer_each_way);
    }
  }
}

TEST(Msccl, ReadsExportedBuiltInAlgorithms) {
  RingOptions options;
  options.lanes = {RingPath{4, {0, 1, 2, 3}}, RingPath{4, {3, 1, 0, 2}}};
  expect_read_again(*ring_all_reduce(8, 16, options), Contract::all_reduce(8, 16), true);
  options.input_shift = 16;
  expect_read_again(*ring_all_reduce(8, 16, options),
                    Contract::of(CollectiveKind::kAllReduce, 8, 16, 0, true), true);
  expect_read_again(*recursive_doubling_all_reduce(8, 1, Engine::kKernel),
                    Contract::all_reduce(8, 1), false);
}

TEST(Msccl, RefusesToExportUnsupportedAlgorithms) {
  const auto broadcast = Contract::of(CollectiveKind::kBroadcast, 4, 8, 0, false);
  EXPECT_FALSE(to_msccl(*ring_all_reduce(4, 8), broadcast, "b"));
}

}  // namespace
}  // namespace tutti::core
