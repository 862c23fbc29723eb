#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

using test::Data;
using test::expect_refused;
using test::kSmall;
using test::Outcome;
using test::run_tutti;
using test::scenario;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Tune, RecommendsSaysWhyAndWhatToPaste) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"tune", scenario("04_resnet50_ring"), "--set", "strategy.bytes_per_pack=0", "--over",
                               "strategy.bytes_per_pack=64KiB..128MiB*1.3", "--evaluations", "20", "-o",
                               folder.file("best.textproto"), "--plot", folder.file("around.svg"), "--csv",
                               folder.file("tried.csv")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("recommended: change"), HasSubstr("strategy.bytes_per_pack = "),
                           HasSubstr("exposed communication "), HasSubstr("around the best"),
                           HasSubstr("twice the latency of all links"), HasSubstr("bytes_per_pack="),
                           HasSubstr("HOROVOD_FUSION_THRESHOLD=")));
  // The scenario that it wrote is the one that it told of.
  const core::Value told =
      test::parse_or_throw(run_tutti({"tune", scenario("04_resnet50_ring"), "--set", "strategy.bytes_per_pack=0",
                                      "--over", "strategy.bytes_per_pack=64KiB..128MiB*1.3", "--evaluations", "20",
                                      "--threads", "1", "--format", "json"})
                               .out,
                           "out");
  const core::Value written =
      test::parse_or_throw(run_tutti({"simulate", folder.file("best.textproto"), "--format", "json"}).out, "out");
  EXPECT_EQ(Data(told)["best"]["step_time_us"].text(), Data(written)["step_time_us"].text())
      << "on any number of threads";
  EXPECT_LT(Data(written)["step_time_us"].real(), Data(told)["now"]["step_time_us"].real());
  EXPECT_THAT(folder.read("around.svg"), HasSubstr("<svg"));
}

TEST(Tune, KeepsWhatItTriesInAFileAndGoesOnWithIt) {
  const TemporaryFolder folder;
  const std::vector<std::string> request{"tune",          scenario("04_resnet50_ring"),
                                         "--over",        "strategy.bytes_per_pack=1MiB..128MiB*1.3",
                                         "--evaluations", "12",
                                         "--format",      "json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), request.begin(), request.end());
    return run_tutti(more);
  };
  const std::string file = folder.file("t.sweep");
  const Outcome alone = with({}), kept = with({"--database", file}), again = with({"--database", file});
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_EQ(kept.out, alone.out) << "a file makes no difference";
  const Outcome rows = run_tutti({"sweep", file, "--format", "json"});
  ASSERT_EQ(rows.status, 0) << rows.err;
  const core::Value told = test::parse_or_throw(kept.out, "out"), sweep = test::parse_or_throw(rows.out, "out");
  double best = 1e18;
  for (const Data& point : Data(sweep)["points"].items()) best = std::min(best, point["step_time_us"].real());
  EXPECT_EQ(best, Data(told)["best"]["step_time_us"].real());
  // Half of the evaluations are the search's; those of other clusters are in no file.
  EXPECT_GE(Data(sweep)["points"].items().size(), 6u);
  EXPECT_LE(Data(sweep)["points"].items().size(), 12u);
  EXPECT_EQ(Data(test::parse_or_throw(again.out, "out"))["best"]["step_time_us"].real(), best);
  expect_refused({"tune", scenario("04_resnet50_ring"), "--over", "strategy.shards=1,2", "--database", file}, folder,
                 HasSubstr("another sweep"));
}

TEST(Tune, EvaluationsAreAllThatIsSimulated) {
  for (const std::int64_t most : {1, 3, 8, 20, 60}) {
    const core::Value document = test::parse_or_throw(
        run_tutti({"tune", scenario("04_resnet50_ring"), "--over", "strategy.bytes_per_pack=64KiB..128MiB*1.1",
                   "--over", "strategy.shards=1,2,4", "--evaluations", std::to_string(most), "--format", "json"})
            .out,
        "out");
    const Data told(document);
    EXPECT_LE(told["tried"].number() + told["beside"].number(), most);
    EXPECT_GE(told["tried"].number() + told["beside"].number(), std::min<std::int64_t>(most, 2));
  }
}

TEST(Tune, RecommendsNothingWhereItMakesNoDifference) {
  const TemporaryFolder folder;
  const std::string flat = folder.write("s.textproto", R"(
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "a" shape: 1000 } variable { name: "b" shape: 1000 } forward_ms: 10 backward_ms: 20 }
strategy { algorithm: "ring" bytes_per_pack: 0 }
)");
  const Outcome o = run_tutti({"tune", flat});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("recommended: change nothing"));
  EXPECT_THAT(o.out, Not(HasSubstr("to paste")));
}

TEST(Tune, HasUsualSettingsForEveryFramework) {
  const TemporaryFolder folder;
  for (const char* strategy :
       {"algorithm: \"nccl\" pytorch_ddp { }", "algorithm: \"nccl\" deepspeed { reduce_bucket_size: 1000000 }",
        "algorithm: \"nccl\" megatron { overlap_grad_reduce: true }", "algorithm: \"pscpu\" byteps { }",
        "byteps { servers_on_workers: 2 }", "communication_options { bytes_per_pack: 0 implementation: RING }"}) {
    const std::string file = folder.write("s.textproto", std::string(R"(
cluster { workers { machine: "pcie4-a100" count: 2 replicas: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload {
  variable { name: "a" shape: 250000 } variable { name: "b" shape: 60000 } variable { name: "c" shape: 700000 }
  forward_ms: 1 backward_ms: 2
}
strategy { )") + strategy + " }");
    const Outcome o = run_tutti({"tune", file, "--evaluations", "8", "--format", "json"});
    ASSERT_EQ(o.status, 0) << strategy << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    const Data json(document);
    ASSERT_TRUE(json.has("best")) << strategy;
    ASSERT_FALSE(json["snippets"].items().empty()) << strategy;
    EXPECT_EQ(json["snippets"].items()[0]["as_simulated"].value().text, "true") << strategy;
    EXPECT_LE(json["tried"].number(), 8);
  }
}

TEST(Tune, SaysInBothFormsWhyThereIsNoBest) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::vector<std::string> refused{"tune", file, "--over", "workload.batch=0,-1"};
  const Outcome words = run_tutti(refused);
  ASSERT_EQ(words.status, 0) << words.err;
  EXPECT_THAT(words.out,
              AllOf(HasSubstr("2 cannot be"), HasSubstr("nothing that was tried can be"), HasSubstr("for one: ")));
  const Outcome json = run_tutti({"tune", file, "--over", "workload.batch=0,-1", "--format", "json"});
  const core::Value document = test::parse_or_throw(json.out, "out");
  const Data told(document);
  EXPECT_FALSE(told.has("best"));
  EXPECT_EQ(told["advice"]["change"].value().text, "false");
  EXPECT_THAT(told["advice"]["why"].text(), HasSubstr("nothing that was tried can be"));
  EXPECT_THAT(told["refusal"].text(), HasSubstr("batch"));
  // Slower by far than what is there.
  const std::string fast = folder.write("r.textproto", R"(
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "a" shape: [1000, 1000] } forward_ms: 10 backward_ms: 20 }
strategy { algorithm: "ring" bytes_per_pack: 0 }
run { steps: 1500 compute_jitter_percent: 5 }
)");
  const Outcome slow = run_tutti({"tune", fast, "--over", "workload.forward_ms=500,600", "--format", "json"});
  ASSERT_EQ(slow.status, 0) << slow.err;
  const core::Value other = test::parse_or_throw(slow.out, "out");
  EXPECT_FALSE(Data(other).has("best"));
  EXPECT_THAT(Data(other)["advice"]["why"].text(), HasSubstr("takes at least 25.0 % longer than what there is"));
}

/// Of 65,536 GPUs some algorithms would take minutes for each setting.
TEST(Tune, LeavesOutWhatTakesLongToSimulateAndSaysSo) {
  const Outcome o = run_tutti({"tune", scenario("11_hierarchical_65536"), "--evaluations", "4", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  std::string notes;
  for (const Data& note : Data(document)["notes"].items()) notes += note.text() + '\n';
  EXPECT_THAT(notes, AllOf(HasSubstr("not tried: "), HasSubstr("psgpu"), HasSubstr("--over strategy.algorithm")));
  EXPECT_LE(Data(document)["tried"].number(), 4);
}

/// An algorithm that no framework has by name cannot be pasted, and that is said.
TEST(Tune, SaysWhereThereIsNothingToPaste) {
  const Outcome o =
      run_tutti({"tune", scenario("04_resnet50_ring"), "--set", "strategy.bytes_per_pack=0", "--over",
                 "strategy.algorithm=halving_doubling", "--over", "strategy.bytes_per_pack=1MiB,2MiB,4MiB"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("recommended: change\n"), HasSubstr("to paste\n  none of the frameworks")));
}

TEST(Tune, InterruptedSaysSoAndWhatIsKept) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"tune", scenario("04_resnet50_ring"), "--over", "strategy.launch_us=1..4000+1",
                               "--evaluations", "2000", "--database", folder.file("t.sweep")},
                              {.interrupt_once = folder.file("t.sweep")});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("what was tried is in "));
  EXPECT_EQ(o.out, "");
}

TEST(Tune, SaysWhatIsWrongWithARequest) {
  const TemporaryFolder folder;
  expect_refused(
      {"tune", scenario("04_resnet50_ring"), "--over", "strategy.algorithm=ring,nccl", "--plot", folder.file("p.svg")},
      folder, HasSubstr("no curve to draw"));
  expect_refused({"tune", scenario("15_all_reduce_spec")}, folder, HasSubstr("say which with --over"));
  expect_refused({"tune", scenario("04_resnet50_ring"), "--evaluations", "0"}, folder, HasSubstr("--evaluations"));
  expect_refused({"tune", scenario("04_resnet50_ring"), "--over", "strategy.shards"}, folder,
                 HasSubstr("expected a field"));
}

}  // namespace
}  // namespace tutti
