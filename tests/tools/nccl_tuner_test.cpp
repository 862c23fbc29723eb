// Tuning of NCCL from end to end: tutti tune writes a table and a promise, the plugin and the
// predictions follow the table, and tutti compare grades measurements against the promise.

#include <sys/stat.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

constexpr const char* kNccl = R"(
cluster { workers { machine: "dgx-a100" count: 2 } network { kind: ONE_SWITCH link: "hdr" } }
workload { variable { name: "a" shape: [1000, 1000] } variable { name: "b" shape: 20000000 }
  forward_ms: 1 backward_ms: 2 }
strategy { algorithm: "nccl" bytes_per_pack: 0 nccl { set: "NCCL_ALGO=Ring" } }
)";

void put(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::filesystem::path file = folder.file(name);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

struct Files {
  TemporaryFolder folder;
  std::string scenario = folder.write("s.textproto", kNccl);
  std::string table = folder.file("table.csv");
  Outcome tuned =
      run_tutti({"tune", scenario, "--over", "strategy.bytes_per_pack=1MiB,4MiB", "--evaluations",
                 "6", "--emit", "nccl-tuner", "-o", table, "--format", "json"});
};

TEST(TuneEmit, WritesATableAndHowToUseAndVerifyIt) {
  Files files;
  ASSERT_EQ(files.tuned.status, 0) << files.tuned.err;
  const core::Value report = test::parse_or_throw(files.tuned.out, "out");
  const Data tuner = Data(report)["nccl_tuner"];
  EXPECT_THAT(tuner["environment"].text(),
              AllOf(HasSubstr("NCCL_TUNER_PLUGIN=libnccl-tuner-tutti.so"),
                    HasSubstr("TUTTI_TUNER_TABLE=" + files.table)));
  EXPECT_FALSE(Data(report)["promise"]["collectives"].items().empty());
  const std::string table = files.folder.read("table.csv");
  EXPECT_THAT(table, StartsWith("# tutti nccl-tuner table 1\n"));
  for (const char* collective :
       {"allreduce,0,", "allgather,0,", "reducescatter,0,", "broadcast,0,", "reduce,0,"})
    EXPECT_THAT(table, HasSubstr(collective));
  EXPECT_THAT(table, Not(HasSubstr(",-1,-1\n"))) << "other communicators stay NCCL's";
}

TEST(TuneEmit, TextStatesHowToVerifyTheTable) {
  Files files;
  const Outcome o = run_tutti({"tune", files.scenario, "--over", "strategy.bytes_per_pack=1MiB",
                               "--evaluations", "4", "--emit", "nccl-tuner", "-o", files.table});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("to use " + files.table), HasSubstr("TUTTI_TUNER_LOG=1"),
                           HasSubstr("tutti compare --promise tune.json")));
}

TEST(TuneEmit, RefusesToWriteUnsupportedTables) {
  const TemporaryFolder folder;
  const std::string small = folder.write("s.textproto", kSmall);
  expect_refused({"tune", small, "--emit", "nccl-tuner"}, folder, HasSubstr("needs -o FILE"));
  expect_refused({"tune", small, "--emit", "table", "-o", "x"}, folder,
                 HasSubstr("expected scenario or nccl-tuner"));
  const Outcome ring = run_tutti({"tune", small, "--over", "strategy.bytes_per_pack=1MiB", "--emit",
                                  "nccl-tuner", "-o", folder.file("t.csv")});
  EXPECT_EQ(ring.status, 1);
  EXPECT_THAT(ring.err, HasSubstr("NCCL executes no complete collective"));
}

/// The prediction with the table must equal the prediction for the recommended setting.
TEST(TunerFile, PredictionsFollowIt) {
  Files files;
  ASSERT_EQ(files.tuned.status, 0) << files.tuned.err;
  std::string free(kNccl);
  free.replace(free.find("nccl { set: \"NCCL_ALGO=Ring\" }"), 30, "");
  const std::string without = files.folder.write("free.textproto", free);
  const auto step = [](const std::string& scenario, const std::vector<std::string>& set) {
    std::vector<std::string> words{"simulate", scenario, "--format", "json"};
    for (const std::string& one : set) words.insert(words.end(), {"--set", one});
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    return Data(test::parse_or_throw(o.out, "out"))["step_time_us"].text();
  };
  // The recommended setting has NCCL_ALGO=Ring. The table without this setting must give the same
  // time.
  EXPECT_EQ(step(without, {"strategy.nccl.tuner=FILE", "strategy.nccl.tuner_file=table.csv"}),
            step(files.scenario, {}));
  // A table with other choices changes the step time.
  static_cast<void>(files.folder.write(
      "tree.csv",
      "# tutti nccl-tuner table 1\nallreduce,0,9223372036854775807,tree,simple,2,-1,-1\n"));
  EXPECT_NE(step(without, {"strategy.nccl.tuner=FILE", "strategy.nccl.tuner_file=tree.csv"}),
            step(without, {}));
  const Outcome perf = run_tutti({"perf", "--cluster", "dgx-a100", "--nodes", "2", "--tuner",
                                  files.table, "-b", "1M", "-e", "1M", "--format", "json"});
  ASSERT_EQ(perf.status, 0) << perf.err;
  const core::Value table = test::parse_or_throw(perf.out, "out");
  EXPECT_EQ(Data(table)["rows"].items().at(0)["algorithm"].text(), "Ring");
  EXPECT_EQ(Data(table)["rows"].items().at(0)["by_tuner"].value().text, "true");
}

TEST(TunerFile, ErrorsHavePositions) {
  const TemporaryFolder folder;
  put(folder, "wrong.csv", "# tutti nccl-tuner table 1\nallreduce,0,9,rings,ll,1,1,8\n");
  const std::string text(kNccl);
  const auto with = [&](const std::string& nccl) {
    std::string changed = text;
    changed.replace(changed.find("set: \"NCCL_ALGO=Ring\""), 21, nccl);
    return folder.write("s.textproto", changed);
  };
  const auto why = [&](const std::string& nccl) {
    const Outcome o = run_tutti({"simulate", with(nccl)}, {.folder = folder.path()});
    EXPECT_EQ(o.status, 2) << o.out;
    return o.err;
  };
  EXPECT_THAT(why("tuner: FILE tuner_file: \"wrong.csv\""),
              AllOf(HasSubstr("wrong.csv:2:15: "), HasSubstr("\"rings\" is not known")));
  EXPECT_THAT(why("tuner: FILE tuner_file: \"none.csv\""), HasSubstr("none.csv"));
  EXPECT_THAT(why("tuner: FILE"), HasSubstr("needs tuner_file"));
  EXPECT_THAT(why("tuner_file: \"wrong.csv\""), HasSubstr("tuner_file needs tuner: FILE"));
  EXPECT_THAT(why("instance: \"p5.48xlarge\""), HasSubstr("instance needs tuner: AWS_OFI"));
  EXPECT_THAT(why("tuner: AWS_OFI instance: \"p4d.24xlarge\""),
              AllOf(HasSubstr("no table for \"p4d.24xlarge\""), HasSubstr("p5en.48xlarge")));
  EXPECT_THAT(why("tuner: AWS_OFI"), HasSubstr("needs instance"));
  EXPECT_THAT(why("buffers: SYMMETRIC version: \"2.21.5\""), HasSubstr("2.27 or later"));
}

core::Value perf_of(const std::vector<std::string>& more) {
  std::vector<std::string> words{"perf", "-b", "1M", "-e", "1M", "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome o = run_tutti(words);
  EXPECT_EQ(o.status, 0) << o.err;
  return test::parse_or_throw(o.out, "out");
}

TEST(AwsOfi, AppliesOnlyToEc2OverEfa) {
  const auto row = [](const core::Value& table) { return Data(table)["rows"].items().at(0); };
  const auto notes = [](const core::Value& table) {
    std::string all;
    for (const Data& note : Data(table)["notes"].items()) all += note.text() + "\n";
    return all;
  };
  const core::Value p5 =
      perf_of({"--cluster", "ec2-p5-48xlarge", "--nodes", "8", "--tuner", "aws_ofi"});
  EXPECT_EQ(row(p5)["algorithm"].text(), "Tree");
  EXPECT_EQ(row(p5)["protocol"].text(), "LL128");
  EXPECT_EQ(row(p5)["by_tuner"].value().text, "true");
  EXPECT_THAT(notes(p5), HasSubstr("aws-ofi-nccl 1.21 for p5.48xlarge"));
  const core::Value two =
      perf_of({"--cluster", "ec2-p5-48xlarge", "--nodes", "2", "--tuner", "aws_ofi"});
  EXPECT_THAT(
      notes(two),
      HasSubstr(
          "makes no choices for this communicator: this tuner leaves communicators of one or two"));
  const core::Value infiniband =
      perf_of({"--cluster", "hgx-h100", "--nodes", "8", "--tuner", "aws_ofi"});
  EXPECT_THAT(notes(infiniband), HasSubstr("the network is infiniband"));
  const TemporaryFolder folder;
  expect_refused({"perf", "--cluster", "hgx-h200", "--nodes", "8", "--tuner", "aws_ofi"}, folder,
                 HasSubstr("set --instance to one of p5.48xlarge"));
  expect_refused({"perf", "--cluster", "hgx-h200", "--nodes", "8", "--instance", "p5.48xlarge"},
                 folder, HasSubstr("needs --tuner aws_ofi"));
  expect_refused({"perf", "--cluster", "hgx-h200", "--nodes", "8", "--tuner", "nowhere.csv"},
                 folder, HasSubstr("nowhere.csv"));
}

TEST(Symmetric, BuffersHaveTheirOwnKernelsAndWideErrorBands) {
  const core::Value table = perf_of({"--cluster", "hgx-h100", "--buffers", "symmetric"});
  const Data row = Data(table)["rows"].items().at(0);
  EXPECT_EQ(row["symmetric"].text(), "AllReduce_RSxLDMC_AGxSTMC");
  EXPECT_NEAR(row["time_high_us"].real() / row["time_us"].real(), 3.3, 1e-6);
  EXPECT_THAT(Data(table)["notes"].items().at(0).text(), HasSubstr("NCCL's estimates"));
  const TemporaryFolder folder;
  expect_refused({"perf", "--cluster", "hgx-h100", "--buffers", "windows"}, folder,
                 HasSubstr("expected plain, registered or symmetric"));
}

/// Returns a record of NCCL Inspector, as written by one of 16 ranks.
std::string inspector(const char* collective, std::int64_t bytes, double us, const char* algorithm,
                      const char* protocol) {
  return fmt::format(
      "{{\"header\": {{\"id\": \"0x1\", \"rank\": 0, \"n_ranks\": 16, \"nnodes\": 2}}, "
      "\"metadata\": "
      "{{\"inspector_output_format_version\": \"v4.2\", \"dump_timestamp_us\": 1, \"hostname\": "
      "\"h\", \"pid\": 7}}, \"coll_perf\": {{\"coll\": \"{}\", \"coll_sn\": 0, "
      "\"coll_msg_size_bytes\": {}, \"coll_exec_time_us\": {}, \"coll_timing_source\": "
      "\"kernel_gpu\", \"coll_algo\": \"{}\", \"coll_proto\": \"{}\"}}}}\n",
      collective, bytes, static_cast<std::int64_t>(us), algorithm, protocol);
}

TEST(ComparePromise, GradesDumpsAndLogsByTheErrorBands) {
  Files files;
  ASSERT_EQ(files.tuned.status, 0) << files.tuned.err;
  const std::string promise = files.folder.write("tune.json", files.tuned.out);
  const core::Value report = test::parse_or_throw(files.tuned.out, "out");
  const auto promised = [&](const std::string& collective, std::int64_t bytes) {
    for (const Data& one : Data(report)["promise"]["collectives"].items()) {
      if (one["collective"].text() == collective && one["bytes"].number() == bytes)
        return one["us"].real();
    }
    throw std::runtime_error("not promised");
  };
  // The size of an all-gather is the contribution of one rank, a sixteenth of the total.
  put(files.folder, "dump/h-pid7.log",
      inspector("AllReduce", 1 << 20, promised("all_reduce", 1 << 20), "RING", "LL128") +
          inspector("AllGather", 1 << 20, 30 * promised("all_gather", 1 << 24), "RING", "LL") +
          inspector("Broadcast", 3 << 20, 1.5 * promised("broadcast", 2 << 20), "RING", "SIMPLE"));
  const Outcome o =
      run_tutti({"compare", "--promise", promise, files.folder.file("dump"), "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value graded = test::parse_or_throw(o.out, "out");
  EXPECT_EQ(Data(graded)["graded"].number(), 3);
  EXPECT_EQ(Data(graded)["inside"].number(), 2);
  EXPECT_EQ(Data(graded)["slower"].number(), 1);
  for (const Data& row : Data(graded)["collectives"].items()) {
    if (row["collective"].text() == "all_gather") {
      EXPECT_EQ(row["verdict"].text(), "slower");
      EXPECT_EQ(row["bytes"].number(), 1 << 24);
    }
  }
  const Outcome text = run_tutti({"compare", "--promise", promise, files.folder.file("dump")});
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr(
                "2 of 3 collectives are inside their error bands, 0 are faster, and 1 are slower"),
            HasSubstr("slower")));
  // A log of nccl-tests with the predicted times for the same setting. All of them are inside their
  // bands.
  const Outcome log = run_tutti({"perf", "--cluster", "dgx-a100", "--nodes", "2", "--set",
                                 "NCCL_ALGO=Ring", "-b", "1K", "-e", "64M", "-f", "3"});
  std::string ranks = "# Using devices\n";
  for (int rank = 0; rank < 16; ++rank)
    ranks += fmt::format(
        "#  Rank {:2} Group  0 Pid {} on node{} device {:2} [0x{:02x}] NVIDIA A100-SXM4-40GB\n",
        rank, 100 + rank, rank / 8, rank % 8, 7 + rank % 8);
  put(files.folder, "perf.log", ranks + log.out);
  const Outcome tests = run_tutti(
      {"compare", "--promise", promise, files.folder.file("perf.log"), "--format", "json"});
  ASSERT_EQ(tests.status, 0) << tests.err;
  const core::Value of_log = test::parse_or_throw(tests.out, "out");
  EXPECT_GT(Data(of_log)["graded"].number(), 0);
  EXPECT_EQ(Data(of_log)["inside"].number(), Data(of_log)["graded"].number());
}

TEST(ComparePromise, RefusesOtherFiles) {
  Files files;
  const std::string promise = files.folder.write("tune.json", files.tuned.out);
  const std::string empty = files.folder.write("other.json", "{\"best\": 1}");
  const TemporaryFolder folder;
  expect_refused({"compare", "--promise", empty, promise}, folder,
                 HasSubstr("this file contains no promise"));
  expect_refused({"compare", "--promise", promise, files.scenario}, folder,
                 HasSubstr("s.textproto"));
  expect_refused({"compare", "--promise", promise, folder.path()}, folder,
                 HasSubstr("has no files"));
  expect_refused({"compare", promise}, folder, HasSubstr("two timelines"));
  // A timeline has no times of single sizes.
  const std::string timeline = folder.write("t.tutti", "TUTTITL1");
  expect_refused({"compare", "--promise", promise, timeline}, folder,
                 HasSubstr("does not read timelines of Tutti"));
  // Nobody writes to this pipe.
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused({"compare", "--promise", promise, pipe}, folder,
                 {.code = ProblemCode::kWrongType, .file = pipe});
}

TEST(ComparePromise, ComparesOnlyTheSameNumberOfNodes) {
  Files files;
  const std::string promise = files.folder.write("tune.json", files.tuned.out);
  std::string log = "# Using devices\n";
  for (int rank = 0; rank < 16; ++rank)
    log += fmt::format(
        "#  Rank {:2} Group  0 Pid {} on node0 device {:2} [0x07] NVIDIA A100-SXM4-40GB\n", rank,
        100 + rank, rank);
  log += run_tutti({"perf", "--cluster", "dgx-a100", "--nodes", "2", "-b", "1M", "-e", "1M"}).out;
  const Outcome o =
      run_tutti({"compare", "--promise", promise, files.folder.write("one.log", log)});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("1 collectives could not be compared, because the report of tutti "
                               "tune predicts only other numbers of nodes"));
}

TEST(Tune, RefusesToWriteTwoFilesWithOneName) {
  Files files;
  const TemporaryFolder folder;
  expect_refused({"tune", files.scenario, "--emit", "nccl-tuner", "-o", folder.file("a.csv"),
                  "--csv", folder.file("./a.csv")},
                 folder, {ProblemCode::kConflict, "--csv"});
}

}  // namespace
}  // namespace tutti
