// The command `tutti tune`: its recommendation with reasons and settings to paste, the file of
// tried settings, comparisons of measured and simulated times, and scenarios without a
// recommendation.

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

#include "core/text/csv.h"
#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(Tune, RecommendsWithAReasonAndASnippet) {
  const TemporaryFolder folder;
  const Outcome o =
      run_tutti({"tune", scenario("04_resnet50_ring"), "--set", "strategy.bytes_per_pack=0",
                 "--over", "strategy.bytes_per_pack=64KiB..128MiB*1.3", "--evaluations", "20", "-o",
                 folder.file("best.textproto"), "--plot", folder.file("around.svg"), "--csv",
                 folder.file("tried.csv")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out,
              AllOf(HasSubstr("recommended: change"), HasSubstr("strategy.bytes_per_pack = "),
                    HasSubstr("exposed communication "), HasSubstr("bytes_per_pack="),
                    HasSubstr("HOROVOD_FUSION_THRESHOLD=")));
  // The written scenario must be the one that the output describes.
  const core::Value report = test::parse_or_throw(
      run_tutti({"tune", scenario("04_resnet50_ring"), "--set", "strategy.bytes_per_pack=0",
                 "--over", "strategy.bytes_per_pack=64KiB..128MiB*1.3", "--evaluations", "20",
                 "--threads", "1", "--format", "json"})
          .out,
      "out");
  const core::Value written = test::parse_or_throw(
      run_tutti({"simulate", folder.file("best.textproto"), "--format", "json"}).out, "out");
  EXPECT_EQ(Data(report)["best"]["step_time_us"].text(), Data(written)["step_time_us"].text())
      << "on any number of threads";
  EXPECT_LT(Data(written)["step_time_us"].real(), Data(report)["now"]["step_time_us"].real());
  EXPECT_EQ(Data(report)["advice"]["change"].value().text, "true");
  EXPECT_FALSE(Data(report)["why"].items().empty());
  EXPECT_FALSE(Data(report)["sensitivity"].items().empty());
  EXPECT_EQ(Data(report)["curves"].items().at(0)["field"].text(), "strategy.bytes_per_pack");
  EXPECT_THAT(folder.read("around.svg"), HasSubstr("<svg"));
}

TEST(Tune, ComparesTheMediansOfSeveralSeeds) {
  const TemporaryFolder folder;
  const std::vector<std::string> over{"--over", "strategy.bytes_per_pack=1MiB,25MiB,100MiB",
                                      "--over", "run.seed=1..5+1"};
  std::vector<std::string> request{"tune",  scenario("10_noise"),
                                   "--set", "run.steps=3",
                                   "--set", "strategy.bytes_per_pack=104857600"};
  request.insert(request.end(), over.begin(), over.end());
  std::vector<std::string> json = request;
  json.insert(json.end(), {"--format", "json", "-o", folder.file("best.textproto")});
  const Outcome o = run_tutti(json);
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value tuned = test::parse_or_throw(o.out, "out");
  EXPECT_EQ(Data(tuned)["settings_in_all"].text(), "3");
  const Data seeds = Data(tuned)["over_seeds"];
  EXPECT_EQ(seeds["seeds"].text(), "5");
  EXPECT_EQ(seeds["best"]["step_times_us"].items().size(), 5u);
  EXPECT_EQ(seeds["best"]["median_us"].text(), Data(tuned)["best"]["step_time_us"].text());
  EXPECT_EQ(seeds["now"]["median_us"].text(), Data(tuned)["now"]["step_time_us"].text());
  EXPECT_LT(seeds["best"]["min_us"].real(), seeds["best"]["max_us"].real()) << "there is noise";

  // A sweep over the same points has the same statistics, and no better median.
  std::vector<std::string> sweep{
      "sweep", scenario("10_noise"),      "--set", "run.steps=3", "--format", "json",
      "-o",    folder.file("noise.sweep")};
  sweep.insert(sweep.end(), over.begin(), over.end());
  const core::Value swept = test::parse_or_throw(run_tutti(sweep).out, "out");
  const auto groups = Data(swept)["over_seeds"].items();
  ASSERT_EQ(groups.size(), 3u);
  for (const char* field :
       {"median_us", "lower_quartile_us", "upper_quartile_us", "min_us", "max_us"})
    EXPECT_EQ(groups.front()[field].text(), seeds["best"][field].text()) << field;
  EXPECT_EQ(groups.front()["set"]["strategy.bytes_per_pack"].text(),
            Data(tuned)["best_settings"]["strategy.bytes_per_pack"].text());
  EXPECT_THAT(folder.read("best.textproto"), HasSubstr("seed: 1 ")) << "the seed is kept";

  const std::string text = run_tutti(request).out;
  EXPECT_THAT(text, AllOf(HasSubstr("with 5 seeds each"), HasSubstr("median step time now"),
                          HasSubstr("step time over 5 seeds"), HasSubstr("of 5 seeds\n")));

  request.insert(request.end(), {"--database", folder.file("tried.sweep")});
  EXPECT_THAT(run_tutti(request).err, HasSubstr("cannot be combined with several seeds"));
}

TEST(Tune, ResumesFromItsFile) {
  const TemporaryFolder folder;
  const std::vector<std::string> request{
      "tune",          scenario("04_resnet50_ring"),
      "--over",        "strategy.bytes_per_pack=1MiB..128MiB*1.3",
      "--evaluations", "12",
      "--format",      "json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), request.begin(), request.end());
    return run_tutti(more);
  };
  const std::string file = folder.file("t.sweep");
  const Outcome alone = with({}), kept = with({"--database", file}),
                again = with({"--database", file});
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_EQ(kept.out, alone.out) << "a file makes no difference";
  const Outcome rows = run_tutti({"sweep", file, "--format", "json"});
  ASSERT_EQ(rows.status, 0) << rows.err;
  const core::Value report = test::parse_or_throw(kept.out, "out"),
                    sweep = test::parse_or_throw(rows.out, "out");
  double best = 1e18;
  for (const Data& point : Data(sweep)["points"].items())
    best = std::min(best, point["step_time_us"].real());
  EXPECT_EQ(best, Data(report)["best"]["step_time_us"].real());
  // Half of the evaluations belong to the search. The evaluations of other clusters are not stored
  // in a file.
  EXPECT_GE(Data(sweep)["points"].items().size(), 6u);
  EXPECT_LE(Data(sweep)["points"].items().size(), 12u);
  EXPECT_EQ(Data(test::parse_or_throw(again.out, "out"))["best"]["step_time_us"].real(), best);
  expect_refused(
      {"tune", scenario("04_resnet50_ring"), "--over", "strategy.shards=1,2", "--database", file},
      folder, {.code = ProblemCode::kConflict, .field = "--over", .file = file});
}

TEST(Tune, SimulatesAtMostTheRequestedEvaluations) {
  for (const std::int64_t most : {1, 3, 8, 20, 60}) {
    const core::Value document = test::parse_or_throw(
        run_tutti({"tune", scenario("04_resnet50_ring"), "--over",
                   "strategy.bytes_per_pack=64KiB..128MiB*1.1", "--over", "strategy.shards=1,2,4",
                   "--evaluations", std::to_string(most), "--format", "json"})
            .out,
        "out");
    const Data report(document);
    EXPECT_LE(report["tried"].number() + report["beside"].number(), most);
    EXPECT_GE(report["tried"].number() + report["beside"].number(),
              std::min<std::int64_t>(most, 2));
  }
}

TEST(Tune, RecommendsNoChangeWithoutADifference) {
  const TemporaryFolder folder;
  const std::string flat = folder.write("s.textproto", R"(
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "a" shape: 1000 } variable { name: "b" shape: 1000 } forward_ms: 10 backward_ms: 20 }
strategy { algorithm: "ring" bytes_per_pack: 0 }
)");
  const core::Value document =
      test::parse_or_throw(run_tutti({"tune", flat, "--format", "json"}).out, "out");
  const Data report(document);
  EXPECT_EQ(report["advice"]["change"].value().text, "false");
  EXPECT_EQ(report["recommended_step_time_us"].real(), report["now"]["step_time_us"].real());
  ASSERT_FALSE(report["snippets"].items().empty());
  EXPECT_THAT(report["snippets"].items()[0]["text"].text(), HasSubstr("bytes_per_pack=0,"));
  for (const Data& snippet : report["snippets"].items())
    EXPECT_THAT(snippet["framework"].text(), Not(HasSubstr("tf_cnn")));
}

TEST(Tune, ComparesAnAlgorithmOfAFileWithTheBuiltInOnes) {
  const TemporaryFolder folder;
  for (const auto& [file, collective] :
       {std::pair{"swing", "ALL_REDUCE"}, {"bruck", "ALL_TO_ALL"}}) {
    const std::string scenario = folder.write("s.textproto", fmt::format(R"(
cluster {{ workers {{ machine: "cpu-host" count: 8 }} network {{ kind: ONE_SWITCH latency_us: 2 }} }}
workload {{ variable {{ name: "a" shape: 65536 }} forward_ms: 1 backward_ms: 2 }}
strategy {{ custom {{ file: "{}" }} }}
)",
                                                                         file));
    const Outcome o =
        run_tutti({"tune", scenario, "--format", "json", "--evaluations", "60", "--csv",
                   folder.file("tried.csv"), "-o", folder.file("best.textproto")});
    ASSERT_EQ(o.status, 0) << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    const std::string tried = folder.read("tried.csv");
    EXPECT_THAT(tried, HasSubstr("strategy.custom")) << file;
    int of_file = 0, of_others = 0;
    std::istringstream lines(tried);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(",done,") == std::string::npos) continue;
      ++(line.find("{}") != std::string::npos ? of_file : of_others);
    }
    EXPECT_GE(of_file, 1) << tried;
    EXPECT_GE(of_others, 1) << tried;
    EXPECT_THAT(tried, HasSubstr(collective)) << "all points execute the same collective";
    EXPECT_LE(Data(document)["best"]["step_time_us"].real(),
              Data(document)["now"]["step_time_us"].real());
    const auto algorithms = Data(document)["algorithms"].items();
    ASSERT_GE(algorithms.size(), 2u);
    EXPECT_EQ(algorithms[0]["step_time_us"].real(), Data(document)["best"]["step_time_us"].real());
    std::pair<bool, double> last{false, 0};
    for (const Data& one : algorithms) {
      const std::pair now(one["stopped_early"].value().text == "true", one["step_time_us"].real());
      EXPECT_GE(now, last) << one["algorithm"].text();
      last = now;
    }
  }
}

TEST(Tune, ListsOnlyAlgorithmsThatCanBeCompared) {
  const TemporaryFolder folder;
  // NCCL's times over TCP cannot be compared with those of messages.
  const std::string file = folder.write("s.textproto", R"(
cluster { workers { machine: "ec2-p3-16xlarge" count: 4 } network { kind: ONE_SWITCH link: "ethernet-25" } }
workload { variable { name: "a" shape: 20000000 backward_ms: 5 } forward_ms: 5 }
strategy { custom { file: "swing" } }
)");
  const Outcome o = run_tutti({"tune", file, "--evaluations", "60", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  EXPECT_GE(Data(document)["not_comparable"].number(), 1);
  EXPECT_GE(Data(document)["algorithms"].items().size(), 2u);
  for (const Data& one : Data(document)["algorithms"].items())
    EXPECT_NE(one["algorithm"].text(), "nccl");
}

TEST(Tune, HasDefaultFieldsForEveryFramework) {
  const TemporaryFolder folder;
  for (const char* strategy :
       {"algorithm: \"nccl\" pytorch_ddp { }",
        "algorithm: \"nccl\" deepspeed { reduce_bucket_size: 1000000 }",
        "algorithm: \"nccl\" megatron { overlap_grad_reduce: true }",
        "algorithm: \"pscpu\" byteps { }", "byteps { servers_on_workers: 2 }",
        "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 0 "
        "implementation: RING } } }"}) {
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

/// Returns small scenarios, each with a different kind of strategy.
std::vector<std::string> small_scenarios() {
  const std::string on_infiniband = R"(
cluster { workers { machine: "pcie4-a100" count: 2 replicas: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload {
  variable { name: "a" shape: 2500000 backward_ms: 1 } variable { name: "b" shape: 600000 backward_ms: 1 }
  variable { name: "c" shape: 7000000 backward_ms: 1 } variable { name: "d" shape: 40000 backward_ms: 1 }
  variable { name: "e" shape: 3000000 backward_ms: 1 } forward_ms: 1
}
strategy { )";
  std::string on_ethernet = on_infiniband;
  on_ethernet.replace(on_ethernet.find("edr"), 3, "ethernet-25");
  return {on_infiniband + "algorithm: \"ring\" bytes_per_pack: 0 }",
          on_infiniband + "algorithm: \"nccl\" }",
          on_infiniband + "algorithm: \"nccl\" pytorch_ddp { } }",
          on_infiniband + "algorithm: \"nccl\" horovod { } }",
          on_ethernet + "algorithm: \"nccl\" bytes_per_pack: 4000000 }",
          on_ethernet + "algorithm: \"ring\" bytes_per_pack: 4000000 }"};
}

/// Returns the rows of a table as maps from column name to value.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  core::Problems problems;
  const core::CsvTable table = core::parse_csv(csv, "tried.csv", problems);
  EXPECT_TRUE(problems.empty());
  std::vector<std::map<std::string, std::string>> rows;
  for (const core::CsvTable::Row& row : table.rows) {
    rows.emplace_back();
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      rows.back()[table.columns[c].text] = row.cells[c].text;
  }
  return rows;
}

/// The recommendation must not be slower than the current setting, and the best setting not slower
/// than any other that was simulated completely.
TEST(Tune, RecommendsTheBestPointOrTheScenario) {
  const TemporaryFolder folder;
  int with_best = 0;
  for (const std::string& text : small_scenarios()) {
    const std::string file = folder.write("s.textproto", text);
    for (const char* seed : {"0", "1", "6"}) {
      SCOPED_TRACE(text + " seed " + seed);
      const Outcome o = run_tutti({"tune", file, "--seed", seed, "--evaluations", "24", "--format",
                                   "json", "--csv", folder.file("tried.csv")});
      ASSERT_EQ(o.status, 0) << o.err;
      const core::Value document = test::parse_or_throw(o.out, "out");
      const Data report(document);
      const double now = report["now"]["step_time_us"].real(),
                   recommended = report["recommended_step_time_us"].real();
      EXPECT_LE(recommended, now);
      if (!report.has("best")) {
        // None of the few tried settings uses NCCL, and other settings cannot be compared with it.
        EXPECT_EQ(report["advice"]["change"].value().text, "false");
        EXPECT_EQ(recommended, now);
        continue;
      }
      ++with_best;
      const double best = report["best"]["step_time_us"].real();
      const bool change = report["advice"]["change"].value().text == "true";
      EXPECT_EQ(recommended, change ? best : now);
      if (!change) {
        EXPECT_GE(best, (1 - 0.026) * now) << "a gain below the error of a difference";
      }
      for (const auto& row : rows_of(folder.read("tried.csv"))) {
        if (row.at("status") != "done" || row.at("stopped_early") == "1" ||
            row.at("compared") == "0")
          continue;
        EXPECT_LE(best, std::stod(row.at("step_time_us")) + 1e-5);
      }
      for (const Data& curve : report["curves"].items()) {
        for (const Data& one : curve["values"].items()) {
          if (one["outcome"]["status"].text() == "done") {
            EXPECT_LE(best, one["outcome"]["step_time_us"].real());
          }
        }
      }
      for (const Data& snippet : report["snippets"].items()) {
        if (snippet["recommended"].value().text == "true") {
          EXPECT_LE(snippet["step_time_us"].real(), now);
        }
        if (snippet["recommended"].value().text == "false") {
          EXPECT_FALSE(snippet["why_not"].text().empty());
        }
      }
    }
  }
  EXPECT_GE(with_best, 9);
}

/// The time stated for a snippet must equal that of `tutti simulate` for a scenario with the
/// snippet's settings.
TEST(Tune, SnippetsHaveThePromisedTime) {
  const TemporaryFolder folder;
  const std::string best = folder.file("best.textproto");
  const Outcome o =
      run_tutti({"tune", scenario("06_resnet50_nccl"), "--set", "workload.batch=8", "--set",
                 "strategy.bytes_per_pack=0", "--over", "strategy.bytes_per_pack=1MiB..128MiB*1.5",
                 "--evaluations", "20", "-o", best, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data report(document);
  ASSERT_EQ(report["advice"]["change"].value().text, "true");
  const std::string bytes = report["best_settings"]["strategy.bytes_per_pack"].text();
  const std::string mebibytes = fmt::format("{}", std::stod(bytes) / 1048576),
                    elements = std::to_string(std::stoll(bytes) / 4);
  const std::map<std::string, std::vector<std::string>> expressed{
      {"PyTorch DDP",
       {"strategy.pytorch_ddp.bucket_cap_mb=" + mebibytes,
        "strategy.pytorch_ddp.gradient_as_bucket_view=true"}},
      {"Horovod", {"strategy.horovod.fusion_threshold=" + bytes}},
      {"DeepSpeed",
       {"strategy.deepspeed.reduce_bucket_size=" + elements,
        "strategy.deepspeed.overlap_comm=true"}},
      {"Megatron-LM",
       {"strategy.megatron.ddp_bucket_size=" + elements,
        "strategy.megatron.overlap_grad_reduce=true"}},
      {"TensorFlow 2",
       {"strategy.algorithm=",
        "strategy.tensorflow.multi_worker_mirrored.communication_options.bytes_per_pack=" + bytes,
        "strategy.tensorflow.multi_worker_mirrored.communication_options.implementation=NCCL"}}};
  std::size_t compared = 0;
  for (const Data& snippet : report["snippets"].items()) {
    const std::string& framework = snippet["framework"].text();
    SCOPED_TRACE(framework);
    ASSERT_TRUE(expressed.contains(framework));
    std::vector<std::string> request{"simulate", best,    "--format",
                                     "json",     "--set", "strategy.bytes_per_pack="};
    for (const std::string& field : expressed.at(framework))
      request.insert(request.end(), {"--set", field});
    const Outcome simulated = run_tutti(request);
    ASSERT_EQ(simulated.status, 0) << simulated.err;
    const core::Value itself = test::parse_or_throw(simulated.out, "out");
    EXPECT_EQ(snippet["step_time_us"].text(), Data(itself)["step_time_us"].text());
    const bool slower = Data(itself)["step_time_us"].real() > report["now"]["step_time_us"].real();
    EXPECT_EQ(snippet["recommended"].value().text, slower ? "false" : "true");
    ++compared;
  }
  EXPECT_EQ(compared, expressed.size());
}

/// There are no measurements of NCCL over TCP, and none of gRPC. So neither is preferred to the
/// other.
TEST(Tune, DoesNotRankNcclOverTcpAgainstARingOfMessages) {
  const TemporaryFolder folder;
  for (const char* link : {"ethernet-10", "ethernet-25"}) {
    for (const std::string now : {"nccl", "ring"}) {
      SCOPED_TRACE(now + " over " + link);
      const std::string other = now == "nccl" ? "ring" : "nccl";
      const std::string file = folder.write("s.textproto", fmt::format(R"(
cluster {{ workers {{ machine: "ec2-p3-16xlarge" count: 4 }} network {{ kind: ONE_SWITCH link: "{}" }} }}
workload {{
  variable {{ name: "a" shape: 20000000 backward_ms: 5 }} variable {{ name: "b" shape: 30000000 backward_ms: 5 }}
  forward_ms: 5
}}
strategy {{ algorithm: "{}" bytes_per_pack: 0 }}
)",
                                                                       link, now));
      const std::vector<std::string> request{
          "tune",   file,
          "--over", "strategy.algorithm=nccl,ring",
          "--over", "strategy.bytes_per_pack=0,1000000,100000000"};
      std::vector<std::string> as_json = request;
      as_json.insert(as_json.end(), {"--format", "json"});
      const Outcome o = run_tutti(as_json), words = run_tutti(request);
      ASSERT_EQ(o.status, 0) << o.err;
      const core::Value document = test::parse_or_throw(o.out, "out");
      const Data report(document);
      EXPECT_EQ(report["best_settings"]["strategy.algorithm"].text(), now);
      EXPECT_GE(report["not_comparable"].number(), 1);
      EXPECT_EQ(report.has("cannot_tell"),
                words.out.find("cannot be distinguished") != std::string::npos);
      // Links at their full rate seem faster than the share of the rate that NCCL is assumed to
      // reach.
      EXPECT_EQ(report.has("cannot_tell"), now == "nccl");
      if (!report.has("cannot_tell")) continue;
      EXPECT_EQ(report["cannot_tell"]["settings"]["strategy.algorithm"].text(), other);
      EXPECT_LT(report["cannot_tell"]["outcome"]["step_time_us"].real(),
                report["recommended_step_time_us"].real());
      EXPECT_THAT(report["cannot_tell"]["why"].text(), HasSubstr("tcp"));
      EXPECT_THAT(words.out, HasSubstr("strategy.algorithm = " + other));
    }
  }
}

TEST(Tune, ReportsThatNothingCouldBeCompared) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", R"(
cluster { workers { machine: "ec2-p3-16xlarge" count: 4 } network { kind: ONE_SWITCH link: "ethernet-25" } }
workload { variable { name: "a" shape: 20000000 } forward_ms: 10 backward_ms: 20 }
strategy { algorithm: "nccl" bytes_per_pack: 0 }
)");
  const Outcome o = run_tutti(
      {"tune", file, "--over", "strategy.algorithm=ring,halving_doubling", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data report(document);
  EXPECT_EQ(report["advice"]["change"].value().text, "false");
  EXPECT_FALSE(report.has("best"));
  EXPECT_EQ(report["not_comparable"].number(), 2);
  EXPECT_FALSE(report["snippets"].items().empty()) << "there are snippets of the current settings";
}

TEST(Tune, StatesInTextAndJsonWhyThereIsNoBestPoint) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::vector<std::string> refused{"tune", file, "--over", "workload.batch=0,-1"};
  const Outcome words = run_tutti(refused);
  ASSERT_EQ(words.status, 0) << words.err;
  EXPECT_THAT(words.out, HasSubstr("2 are invalid"));
  const Outcome json =
      run_tutti({"tune", file, "--over", "workload.batch=0,-1", "--format", "json"});
  const core::Value document = test::parse_or_throw(json.out, "out");
  const Data report(document);
  EXPECT_FALSE(report.has("best"));
  EXPECT_EQ(report["advice"]["change"].value().text, "false");
  EXPECT_EQ(report["refused"].number(), 2);
  EXPECT_FALSE(report["advice"]["why"].text().empty());
  EXPECT_THAT(report["refusal"].text(), testing::StartsWith("workload.batch=0: "));
  // The tried setting is much slower than the current one.
  const std::string fast = folder.write("r.textproto", R"(
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "a" shape: [1000, 1000] } forward_ms: 10 backward_ms: 20 }
strategy { algorithm: "ring" bytes_per_pack: 0 }
run { steps: 1500 compute_jitter_percent: 5 }
)");
  const Outcome slow =
      run_tutti({"tune", fast, "--over", "workload.forward_ms=500,600", "--format", "json"});
  ASSERT_EQ(slow.status, 0) << slow.err;
  const core::Value other = test::parse_or_throw(slow.out, "out");
  EXPECT_FALSE(Data(other).has("best"));
  EXPECT_EQ(Data(other)["stopped_early"].number(), 2);
  EXPECT_THAT(Data(other)["advice"]["why"].text(), HasSubstr(" 25.0 % "));
}

/// With 65,536 GPUs, some algorithms would take minutes per setting.
TEST(Tune, SkipsPointsThatTakeLongToSimulate) {
  const Outcome o = run_tutti(
      {"tune", scenario("11_hierarchical_65536"), "--evaluations", "4", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  std::string notes;
  for (const Data& note : Data(document)["notes"].items()) notes += note.text() + '\n';
  EXPECT_THAT(notes, AllOf(HasSubstr("psgpu"), HasSubstr("--over strategy.algorithm")));
  EXPECT_LE(Data(document)["tried"].number(), 4);
}

/// No framework offers this algorithm, so there is nothing to paste, and the output says so.
TEST(Tune, StatesWhyThereIsNoSnippet) {
  std::vector<std::string> words{"tune",   scenario("04_resnet50_ring"),
                                 "--set",  "strategy.bytes_per_pack=0",
                                 "--over", "strategy.algorithm=halving_doubling",
                                 "--over", "strategy.bytes_per_pack=1MiB,2MiB,4MiB"};
  const Outcome o = run_tutti(words);
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("no supported framework"));
  words.insert(words.end(), {"--format", "json"});
  const core::Value document = test::parse_or_throw(run_tutti(words).out, "out");
  EXPECT_EQ(Data(document)["advice"]["change"].value().text, "true");
  EXPECT_TRUE(Data(document)["snippets"].items().empty());
}

TEST(Tune, AnInterruptKeepsThePoints) {
  const TemporaryFolder folder;
  const Outcome o =
      run_tutti({"tune", scenario("04_resnet50_ring"), "--over", "strategy.launch_us=1..4000+1",
                 "--evaluations", "2000", "--database", folder.file("t.sweep")},
                {.interrupt_once = folder.file("t.sweep")});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr(folder.file("t.sweep")));
  EXPECT_EQ(o.out, "");
}

TEST(Tune, AnInterruptIsAnErrorAlsoInJsonAndWhenQuiet) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti(
      {"tune", scenario("04_resnet50_ring"), "--over", "strategy.launch_us=1..4000+1",
       "--evaluations", "2000", "--database", folder.file("t.sweep"), "--format", "json", "-q"},
      {.interrupt_once = folder.file("t.sweep"), .signal = SIGTERM});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("interrupted"));
  EXPECT_EQ(test::error_in(o.out).problems().front().kind.code, ProblemCode::kStopped);
}

TEST(Tune, ChecksItsOutputsBeforeTheSearch) {
  const TemporaryFolder folder;
  for (const char* const option : {"-o", "--csv", "--plot"}) {
    const std::string path =
        folder.file(std::string("absent/x") + (option[2] == 'p' ? ".svg" : ""));
    expect_refused({"tune", scenario("04_resnet50_ring"), "--evaluations", "1000000", option, path},
                   folder, {.code = ProblemCode::kInvalid, .field = option, .file = path});
  }
}

TEST(Tune, PrintsItsResultEvenIfAFileCannotBeWritten) {
  const Outcome o = run_tutti({"tune", scenario("04_resnet50_ring"), "--over",
                               "strategy.bytes_per_pack=4MiB,64MiB", "--csv", "/dev/full"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("/dev/full"));
  EXPECT_THAT(o.out, HasSubstr("bytes_per_pack"));
}

TEST(Tune, NeverOverwritesAnInput) {
  const TemporaryFolder folder;
  const std::string model = folder.write("m.csv", "name,shape,type\na,1000x1000,float32\n");
  const std::string points = folder.write("p.csv", "strategy.shards\n1\n2\n");
  const std::string file =
      folder.write("s.textproto",
                   "cluster { workers { machine: \"dgx1-v100\" } } workload { model: \"m.csv\" } "
                   "strategy { algorithm: \"ring\" }");
  for (const std::string& input : {model, points, file}) {
    for (const char* const option : {"-o", "--csv"}) {
      const std::string before = folder.read(std::filesystem::path(input).filename());
      expect_refused({"tune", file, "--points", points, option, input}, folder,
                     {.code = ProblemCode::kConflict, .field = option, .file = input});
      EXPECT_EQ(folder.read(std::filesystem::path(input).filename()), before);
    }
  }
  expect_refused({"simulate", file, "--timeline", model}, folder,
                 {.code = ProblemCode::kConflict, .file = model});
}

TEST(Tune, RefusesInvalidRequests) {
  const TemporaryFolder folder;
  expect_refused({"tune", scenario("04_resnet50_ring"), "--over", "strategy.algorithm=ring,nccl",
                  "--plot", folder.file("p.svg")},
                 folder, {ProblemCode::kUnused, "--plot"});
  expect_refused(
      {"tune", scenario("15_all_reduce_spec")}, folder,
      {.code = ProblemCode::kMissing, .field = "--over", .file = scenario("15_all_reduce_spec")});
  expect_refused({"tune", scenario("04_resnet50_ring"), "--evaluations", "0"}, folder,
                 {ProblemCode::kTooSmall, "--evaluations"});
  expect_refused({"tune", scenario("04_resnet50_ring"), "--over", "strategy.shards"}, folder,
                 {ProblemCode::kSyntax, "--over"});
}

}  // namespace
}  // namespace tutti
