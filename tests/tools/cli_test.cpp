// The command line: arguments, files, messages and exit statuses. The tests cover the behaviour
// that all commands share, and the command tutti plan.

#include <fmt/format.h>

#include <filesystem>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

/// Matches the proof of a pack: every replica has every contribution. `replicas`: their number.
auto says_proved(int replicas) {
  return HasSubstr(
      fmt::format("each of {} replicas ends with every contribution exactly once", replicas));
}
/// Matches the proof of an exchange among all replicas.
auto says_exchange_proved(int replicas) {
  return testing::ContainsRegex(
      fmt::format("exchange 0: .*each of {} replicas .*alltoall", replicas));
}

TEST(Help, EveryCommandHasHelpWithExamples) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"--help"},
                                                                 {"simulate", "--help"},
                                                                 {"plan", "--help"},
                                                                 {"export", "--help"},
                                                                 {"init", "--help"}}) {
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0);
    EXPECT_THAT(o.out, HasSubstr("Examples:\n  tutti ")) << words.front();
    EXPECT_THAT(o.err, IsEmpty());
  }
}

/// Runs the examples in a folder of their own, because some of them write files.
TEST(Help, ExamplesOfShippedScenariosRun) {
  const TemporaryFolder folder;
  std::filesystem::create_directory_symlink(test::source_folder() + "/scenarios",
                                            folder.file("scenarios"));
  for (const char* command : {"simulate", "plan"}) {
    const std::string help = run_tutti({command, "--help"}).out;
    std::istringstream lines(help.substr(help.find("Examples:")));
    int ran = 0;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream in(line);
      std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
      if (words.size() < 3 || words[0] != "tutti" || !words[2].starts_with("scenarios/")) continue;
      words.erase(words.begin());
      EXPECT_EQ(run_tutti(words, {.folder = folder.path()}).status, 0) << line;
      ++ran;
    }
    EXPECT_GE(ran, 1) << command;
  }
}

TEST(Help, PrintsTheVersionAndFeatures) {
  EXPECT_THAT(run_tutti({"--version"}).out, StartsWith("tutti 0."));
  EXPECT_THAT(run_tutti({"--version"}).out, HasSubstr(" (with"));
}

TEST(Doctor, ReportsThisMachine) {
  const Outcome text = run_tutti({"doctor"});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* name : {"cores", "memory", "/dev/shm", "ports", "GPUs", "shipped data"})
    EXPECT_THAT(text.out, HasSubstr(name));
  EXPECT_THAT(run_tutti({"doctor", "--format", "json"}).out, HasSubstr("\"remedy\""));
}

TEST(Messages, QuietPrintsOnlyResultsAndErrors) {
  const TemporaryFolder folder;
  const std::string scenario = test::source_folder() + "/scenarios/01_two_ranks.textproto";
  const std::vector<std::string> words{"simulate", scenario, "--timeline", folder.file("a.tutti")};
  EXPECT_THAT(run_tutti(words).err, HasSubstr("timeline: "));
  std::vector<std::string> quiet = words;
  quiet.emplace_back("--quiet");
  const Outcome silent = run_tutti(quiet);
  EXPECT_THAT(silent.err, IsEmpty());
  EXPECT_THAT(silent.out, HasSubstr("step time"));
  const Outcome wrong = run_tutti({"simulate", "none.textproto", "-q"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("none.textproto"));
}

TEST(Completion, ScriptsAndCandidatesArePrinted) {
  EXPECT_THAT(run_tutti({"completion", "bash"}).out,
              HasSubstr("complete -o bashdefault -F _tutti tutti"));
  EXPECT_THAT(run_tutti({"completion", "zsh"}).out, StartsWith("#compdef tutti"));
  EXPECT_THAT(run_tutti({"completion", "fish"}).out, HasSubstr("complete -c tutti"));
  EXPECT_EQ(run_tutti({"completion", "tcsh"}).status, 2);
  EXPECT_THAT(run_tutti({"complete", "--", "simulate", "--network-model", "fi"}).out,
              HasSubstr("words\nfifo\t"));
}

TEST(Manual, PagesAreWrittenForAllCommands) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_tutti({"manual", "--folder", folder.path()}).status, 0);
  EXPECT_THAT(folder.read("tutti-sweep.1"), HasSubstr(".TH TUTTI\\-SWEEP 1"));
  EXPECT_THAT(folder.files(), testing::Contains("tutti-import-nccl-topology.1"));
  EXPECT_THAT(run_tutti({"manual", "sweep"}).out, HasSubstr("\\-\\-over"));
  EXPECT_EQ(run_tutti({"manual", "nonsense"}).status, 2);
}

TEST(Help, TheWordHelpMeansTheOption) {
  EXPECT_EQ(run_tutti({"help"}).out, run_tutti({"--help"}).out);
  EXPECT_EQ(run_tutti({"help", "sweep"}).out, run_tutti({"sweep", "--help"}).out);
  const Outcome unknown = run_tutti({"help", "simulat"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command \"simulat\"; did you mean \"simulate\"?"));
}

TEST(Simulate, OfATimelineNamesTheCommandsForIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_tutti({"simulate", scenario("01_two_ranks"), "--timeline", folder.file("a.tutti")})
                .status,
            0);
  const Outcome refused = run_tutti({"simulate", folder.file("a.tutti")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("a timeline, not a scenario"), HasSubstr("tutti report")));
}

TEST(Help, RefusesUnknownWords) {
  const TemporaryFolder folder;
  expect_refused({}, folder, HasSubstr("simulate, run, sweep, "));
  expect_refused({"simulat"}, folder, AllOf(HasSubstr("\"simulat\""), HasSubstr("\"simulate\"")));
  expect_refused({"simulat"}, folder, {ProblemCode::kUnknownName});
  expect_refused({"simulate", scenario("01_two_ranks"), "--seed", "abc"}, folder,
                 HasSubstr("--seed abc: expected a whole number; see tutti simulate --help"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--steps", "99999999999"}, folder,
                 HasSubstr("--steps 99999999999: the number is too large"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--timeline"}, folder,
                 HasSubstr("--timeline needs a value (TIMELINE)"));
  expect_refused({"run", scenario("01_two_ranks"), "--emulate=x"}, folder,
                 HasSubstr("--emulate takes no value (got x)"));
  expect_refused({"completion", "tcsh"}, folder, HasSubstr("expected one of bash, zsh, fish"));
  expect_refused({"import"}, folder, HasSubstr("tf-config, nccl-topology"));
  expect_refused({"import", "xml"}, folder, {ProblemCode::kUnknownName});
  expect_refused({"simulate", scenario("01_two_ranks"), "--timelin=x"}, folder,
                 {ProblemCode::kUnknownField, "--timelin"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--step", "3"}, folder,
                 {ProblemCode::kUnknownField, "--step"});
  expect_refused({"simulate", scenario("01_two_ranks"), "more"}, folder, {ProblemCode::kUnused});
  expect_refused({"simulate"}, folder, {ProblemCode::kMissing, "scenario"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--fast"}, folder,
                 {ProblemCode::kUnknownField, "--fast"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--format", "yaml"}, folder,
                 HasSubstr("--format yaml"));
  expect_refused({"simulate", scenario("01_two_ranks"), "--record", "all"}, folder,
                 {ProblemCode::kUnknownName, "--record"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--network-model", "exact"}, folder,
                 {ProblemCode::kUnknownName, "--network-model"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--workers", "3-1"}, folder,
                 {ProblemCode::kSyntax, "--workers"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--workers", "0-"}, folder,
                 {ProblemCode::kSyntax, "--workers"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--steps", "0"}, folder,
                 {ProblemCode::kTooSmall, "--steps"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--steps", "1e99"}, folder,
                 {ProblemCode::kWrongType, "--steps"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--from-us", "nan"}, folder,
                 {ProblemCode::kInvalid, "--from-us"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--from-us", "9", "--to-us", "3"}, folder,
                 {ProblemCode::kConflict, "--to-us"});
  expect_refused({"simulate", scenario("01_two_ranks"), "--max-spans", "-1"}, folder,
                 {ProblemCode::kTooSmall, "--max-spans"});
  for (const auto& option : std::vector<std::vector<std::string>>{{"--record", "packs"},
                                                                  {"--workers", "0-1"},
                                                                  {"--from-us", "1"},
                                                                  {"--to-us", "2"},
                                                                  {"--max-spans", "10"}}) {
    expect_refused({"simulate", scenario("01_two_ranks"), option[0], option[1]}, folder,
                   {ProblemCode::kUnused, option[0]});
  }
  expect_refused({"plan", scenario("01_two_ranks"), "--pack", "1"}, folder,
                 {ProblemCode::kTooLarge, "--pack"});
  expect_refused({"export", "x", "--to", "pdf"}, folder, {ProblemCode::kUnknownName, "--to"});
  expect_refused({"export", "x", "--to", "csv", "--table", "rows"}, folder,
                 {ProblemCode::kUnknownName, "--table"});
  expect_refused({"init", "--nodes", "0"}, folder, {ProblemCode::kTooSmall, "--nodes"});
}

// --- simulate ---

TEST(Help, NamesWhatReplacesAnUnknownOption) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mine.textproto", kSmall);
  const auto expect = [&](const std::vector<std::string>& words, const char* hint) {
    const Outcome o = run_tutti(words, {.folder = folder.path()});
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr(hint)) << o.err;
  };
  expect({"version"}, "did you mean --version?");
  expect({"-V"}, "did you mean --version?");
  expect({"simulate", file, "--algorithm", "ring"}, "--algorithm; use --set strategy.algorithm=");
  expect({"simulate", file, "-o", "x"}, "-o; --timeline FILE writes a timeline");
  expect({"tune", file, "--json"}, "--json; use --format json");
  expect({"run", file, "-np", "4"}, "use --ranks N to run fewer ranks");
  expect({"perf", file, "-G", "1"}, "-G: the model of NCCL's times is fitted");
  expect({"perf", file, "-G1"}, "-G1: the model of NCCL's times is fitted");
  expect({"perf", file, "--agg_iters", "2"}, "collectives are timed one at a time");
  expect({"perf", file, "-T", "9"}, "use --timeout-seconds");
}

TEST(Scenario, ErrorsAboutNamesListWhatThereIs) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mine.textproto", kSmall);
  const auto expect = [&](const std::string& setting, const char* hint) {
    const Outcome o = run_tutti({"simulate", file, "--set", setting}, {.folder = folder.path()});
    EXPECT_EQ(o.status, 2) << setting;
    EXPECT_THAT(o.err, HasSubstr(hint)) << o.err;
  };
  expect("cluster.workers.gpus=4", "its fields are machine, count");
  expect("workload.batch_size=64", "did you mean \"batch\"?");
  EXPECT_THAT(
      run_tutti({"simulate", scenario("04_resnet50_ring"), "--set", "workload.model=ResNet-50"})
          .err,
      HasSubstr("\"resnet50_torchvision\""));
  expect("cluster.workers.machine=p4d.24xlarge", "did you mean \"ec2-p4d-24xlarge\"?");
  expect("strategy.algorithm=horovod", "horovod is a framework, not an algorithm");
  expect("strategy=horovod", "write strategy.horovod={}");
  expect("cluster.network.link=infiniband", "expected one of edr, ");
  expect("strategy.bytes_per_pack=nan", "found \"nan\"; write a size");
  const Outcome o = run_tutti({"simulate", "mine.txtproto"}, {.folder = folder.path()});
  EXPECT_THAT(o.err, HasSubstr("No such file or directory; did you mean \"mine.textproto\"?"));
  EXPECT_THAT(run_tutti({"simulate", "other.textproto"}, {.folder = folder.path()}).err,
              Not(HasSubstr("did you mean")))
      << "the ending alone does not make names similar";
  EXPECT_THAT(run_tutti({"simulate", "-"}, {.folder = folder.path()}).err,
              HasSubstr("cannot be read from standard input"));
}

TEST(Plan, ShowsPacks) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  EXPECT_THAT(run_tutti({"plan", file}).out,
              AllOf(HasSubstr("1 pack of 2 gradients"), HasSubstr("b, a")));
  const core::Value document =
      test::parse_or_throw(run_tutti({"plan", file, "--format", "json"}).out, "out");
  const auto gradients = Data(document)["packs"].items()[0]["gradients"].items();
  EXPECT_EQ(gradients[0]["name"].text(), "b");
  EXPECT_EQ(gradients[1]["offset_in_pack"].number(), 80)
      << "ScopedAllocator begins every tensor on a multiple of 64 bytes";
}

TEST(Plan, NamesWhatStartsABucketOfDeepSpeed) {
  const TemporaryFolder folder;
  const std::string text =
      "cluster { workers { machine: \"dgx1-v100\" } } workload { variable { name: \"a\" shape: 10 "
      "} "
      "variable { name: \"b\" shape: 10 } } strategy { algorithm: \"nccl\" deepspeed { "
      "reduce_bucket_size: 10 overlap_comm: true } }";
  EXPECT_THAT(run_tutti({"plan", folder.write("s.textproto", text)}).out,
              HasSubstr("when ready and copied in, and the next bucket has its first gradient"));
}

TEST(Plan, PrintsTheAlgorithmOfEachPackOfASpec) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto",
                                        "cluster { workers { machine: \"cpu-host\" count: 4 } "
                                        "network { kind: ONE_SWITCH latency_us: 1 } } "
                                        "workload { variable { name: \"small\" shape: 8 } variable "
                                        "{ name: \"large\" shape: 9 } } strategy "
                                        "{ tensorflow { multi_worker_all_reduce { all_reduce_spec "
                                        "{ text: \"pscpu#2:8:xring\" } } } }");
  const Outcome text = run_tutti({"plan", file, "--check"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("(12 elements)"))
      << "9 elements are padded for four ranks, and so it is proved";
  const core::Value document =
      test::parse_or_throw(run_tutti({"plan", file, "--format", "json"}).out, "out");
  const Data json(document);
  EXPECT_EQ(json["all_reduce_spec"].text(), "pscpu#2:8:xring");
  const std::vector<Data> packs = json["packs"].items();
  ASSERT_EQ(packs.size(), 2u);
  EXPECT_EQ(packs[0]["algorithm"].text(), "pscpu");
  EXPECT_EQ(packs[0]["shards"].number(), 2);
  EXPECT_EQ(packs[1]["algorithm"].text(), "xring");
  EXPECT_EQ(packs[1]["entry"].number(), 1);
  EXPECT_EQ(packs[1]["bytes"].number(), 48);
}

TEST(Plan, PrintsAndProvesSchedules) {
  const Outcome o = run_tutti({"plan", scenario("01_two_ranks"), "--schedule", "--check"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("steps of pack 0 (250000 elements):"), HasSubstr("gpu0"),
                           says_proved(2), HasSubstr("9 tasks and 11 edges")));
  for (const char* name :
       {"02_eight_hosts_ring", "03_merge_scope", "04_resnet50_ring", "06_resnet50_nccl"}) {
    EXPECT_EQ(run_tutti({"plan", scenario(name), "--check"}).status, 0) << name;
  }
}

TEST(Plan, NamesTheLineOfAWrongAlgorithm) {
  const TemporaryFolder folder;
  const std::string algorithm = folder.write("mine.tutti-algorithm", R"(algorithm mine
collective all_reduce
chunks ranks
lane {
  for d from 1 to ranks - 1 {
    send data[rank + d] to rank + d
  }
  for d from 1 to ranks - 1 {
    reduce data[rank + 1] from rank - d
  }
}
)");
  std::string text = kSmall;
  const std::string ring = "algorithm: \"ring\"";
  text.replace(text.find(ring), ring.size(), "custom { file: \"mine.tutti-algorithm\" }");
  const Outcome o = run_tutti({"plan", "--check", folder.write("s.textproto", text)});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("the schedule is wrong:"));
  EXPECT_THAT(o.err, HasSubstr(algorithm + ":9:5: rank ")) << o.err;
}

TEST(Plan, DrawsAStepWithItsCriticalPath) {
  const TemporaryFolder folder;
  const std::string svg = folder.file("step.svg"), dot = folder.file("step.dot");
  const Outcome drawn = run_tutti({"plan", scenario("13_tensor_parallel"), "--graph", svg});
  ASSERT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_THAT(drawn.out, AllOf(HasSubstr("simulated, step 2"), HasSubstr("204 tasks")));
  EXPECT_THAT(folder.read("step.svg"),
              AllOf(HasSubstr("critical path"), HasSubstr("communicator &quot;tensor&quot;"),
                    HasSubstr("all_reduce ×")));
  const Outcome known = run_tutti(
      {"plan", scenario("06_resnet50_nccl"), "--graph", dot, "--no-simulation", "--check"});
  ASSERT_EQ(known.status, 0) << known.err;
  EXPECT_THAT(known.out, AllOf(HasSubstr("without a simulation"), HasSubstr("185 tasks")));
  EXPECT_THAT(folder.read("step.dot"),
              AllOf(testing::StartsWith("digraph step {"), HasSubstr("penwidth=2.4")));
}

TEST(Plan, RefusesGraphsThatItCannotWrite) {
  const TemporaryFolder folder;
  const std::string file = scenario("01_two_ranks");
  const auto refused = [&](const std::vector<std::string>& more, const auto& why) {
    std::vector<std::string> words{"plan", file};
    words.insert(words.end(), more.begin(), more.end());
    expect_refused(words, folder, why);
  };
  const std::string svg = folder.file("step.svg");
  refused({"--graph", folder.path() + "/step.png"}, Mistake{ProblemCode::kUnknownName, "--graph"});
  refused({"--graph", svg, "--schedule"}, Mistake{ProblemCode::kConflict, "--graph"});
  refused({"--graph", svg, "--format", "json"}, Mistake{ProblemCode::kConflict, "--graph"});
  refused({"--no-simulation"}, Mistake{ProblemCode::kUnused, "--no-simulation"});
  refused({"--graph", folder.path() + "/no/such/folder/step.svg"},
          testing::Matcher<std::string>(HasSubstr("no/such/folder")));
}

TEST(Plan, PrintsAndProvesNcclsSendsOfAnExchange) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.textproto",
      "cluster { workers { machine: \"hgx-h100\" count: 2 } network { kind: ONE_SWITCH link: "
      "\"ndr\" } } workload { "
      "variable { name: \"v\" shape: 4096 } forward_ms: 1 } strategy { algorithm: \"nccl\" } "
      "communicator { name: "
      "\"expert\" size: 16 exchange { collective: ALL_TO_ALL bytes: 1048576 per_forward: 1 } }");
  const Outcome o = run_tutti({"plan", file, "--schedule", "--exchange", "0", "--check"});
  ASSERT_EQ(o.status, 0) << o.err;
  // An exchange of 64 KiB is sent in chunks of 32 KiB over the network. The message to rank 9 from
  // GPU 0 leaves through the card of GPU 1, whose proxy forwards it.
  EXPECT_THAT(o.out, AllOf(HasSubstr("steps of exchange 0 (262144 elements):"),
                           HasSubstr("(copy engine, 8 slots)"), says_exchange_proved(16),
                           HasSubstr("(4096 elements instead of 262144)")));
  expect_refused({"plan", file, "--schedule", "--exchange", "1"}, folder,
                 {ProblemCode::kTooLarge, "--exchange"});
}

TEST(Plan, PrintsAndProvesInNetworkReductions) {
  const TemporaryFolder folder;
  for (const auto& [collective, algorithm, says] :
       {std::tuple("ALL_REDUCE", "CollnetDirect", "CollNetDirect Simple"),
        std::tuple("ALL_REDUCE", "CollnetChain", "CollNetChain Simple"),
        std::tuple("ALL_REDUCE", "NVLS", "NVLS Simple"),
        std::tuple("ALL_GATHER", "CollnetDirect", "CollNetDirect Simple"),
        std::tuple("REDUCE_SCATTER", "CollnetDirect", "CollNetDirect Simple"),
        std::tuple("REDUCE_SCATTER", "NVLS", "NVLS Simple")}) {
    const std::string file = folder.write(
        "s.textproto",
        fmt::format(
            "cluster {{ workers {{ machine: \"hgx-h100\" count: 2 replicas: 8 }} network {{ kind: "
            "ONE_SWITCH link: "
            "\"ndr\" }} }} "
            "workload {{ variable {{ name: \"v\" shape: 1024 }} forward_ms: 1 }} strategy {{ "
            "algorithm: \"nccl\" "
            "collective: {} nccl {{ set: \"NCCL_COLLNET_ENABLE=1\" set: \"NCCL_ALGO={}\" }} }}",
            collective, algorithm));
    const Outcome o = run_tutti({"plan", file, "--schedule", "--check"});
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out,
                testing::ContainsRegex(fmt::format("pack 0: {}, .*: each of 16 replicas", says)));
    EXPECT_THAT(o.out, HasSubstr("(copy engine, 8 slots)"));  // the heads' proxies
    EXPECT_THAT(o.out, HasSubstr("SHARP"));
  }
}

TEST(Plan, PrintsAndProvesNcclsSendsOfOldReleases) {
  const TemporaryFolder folder;
  const auto planned = [&](const std::string& version) {
    const std::string file = folder.write(version + ".textproto",
                                          "cluster { workers { machine: \"dgx1-v100\" count: 2 } "
                                          "network { kind: ONE_SWITCH link: \"edr\" } } workload { "
                                          "variable { name: \"v\" shape: 4096 } forward_ms: 1 } "
                                          "strategy { algorithm: \"nccl\" nccl { version: \"" +
                                              version +
                                              "\" } } communicator { name: \"expert\" size: 16 "
                                              "exchange { collective: ALL_TO_ALL bytes: 1048576 "
                                              "per_forward: 1 } }");
    const Outcome o = run_tutti({"plan", file, "--schedule", "--exchange", "0", "--check"});
    EXPECT_EQ(o.status, 0) << o.err;
    return o.out;
  };
  // A chunk of 128 KiB holds the whole 64 KiB. No GPU forwards for others, and there are no lanes
  // of proxies.
  EXPECT_THAT(planned("2.8.4"), AllOf(HasSubstr("steps of exchange 0 (262144 elements):"),
                                      Not(HasSubstr("copy engine")), HasSubstr("[16384..32768)"),
                                      says_exchange_proved(16)));
  EXPECT_THAT(planned("2.6.4"), AllOf(HasSubstr("not NCCL's own schedule: NCCL 2.6.4 "),
                                      HasSubstr("not with NCCL's own schedule (NCCL 2.6.4 "),
                                      says_exchange_proved(16)));
}

TEST(Plan, PrintsAndProvesNcclsStepsInsideWorkers) {
  const TemporaryFolder folder;
  for (const char* algorithm : {"nccl/ring", "nccl/pscpu", "nccl/xring", "nccl/double_tree"}) {
    const std::string file = folder.write(
        "s.textproto",
        fmt::format(
            "cluster {{ workers {{ machine: \"hgx-h100\" count: 2 }} network {{ kind: ONE_SWITCH "
            "link: \"ndr\" }} }} "
            "workload {{ variable {{ name: \"v\" shape: 16384 }} forward_ms: 1 }} strategy {{ "
            "algorithm: \"{}\" "
            "reduction: MEAN nccl {{ set: \"NCCL_ALGO=NVLS,Ring\" set: \"NCCL_PROTO=Simple\" }} }}",
            algorithm));
    const Outcome o = run_tutti({"plan", file, "--schedule", "--check"});
    ASSERT_EQ(o.status, 0) << algorithm << o.err;
    // The switch executes the additions of the first stage; on the second machine these are the
    // additions of its own eight ranks.
    EXPECT_THAT(o.out, AllOf(HasSubstr("all_reduce by NVLS Simple, 8 channels"),
                             HasSubstr("broadcast by Ring Simple"),
                             HasSubstr("data[0..0) → ranks 8..15 lane 1"), says_proved(16)))
        << algorithm;
    const core::Value document =
        test::parse_or_throw(run_tutti({"plan", file, "--format", "json"}).out, "out");
    const auto inside = Data(document)["packs"].items().at(0)["nccl_inside_workers"].items();
    ASSERT_EQ(inside.size(), 2u);
    EXPECT_EQ(inside[0]["collective"].text(), "all_reduce");
    EXPECT_EQ(inside[0]["algorithm"].text(), "NVLS");
    EXPECT_EQ(inside[1]["collective"].text(), "broadcast");
  }
}

TEST(Plan, RefusesOptionsThatAnExchangeDoesNotUse) {
  const TemporaryFolder folder;
  expect_refused({"plan", scenario("13_tensor_parallel"), "--exchange", "0"}, folder,
                 {ProblemCode::kUnused, "--exchange"});
  expect_refused({"plan", scenario("13_tensor_parallel"), "--check", "--exchange", "0"}, folder,
                 {ProblemCode::kUnused, "--exchange"});
}

TEST(Plan, LimitsTheNumberOfPrintedSteps) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.textproto");
  ASSERT_EQ(run_tutti({"init", "--nodes", "32", "-o", file}).status, 0);
  expect_refused({"plan", file, "--schedule"}, folder, {ProblemCode::kTooLarge, "--schedule"});
}

TEST(Plan, ReportsThatAScheduleIsTooLargeToProve) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.textproto");
  for (const char* nodes : {"4000", "40000"}) {
    ASSERT_EQ(run_tutti({"init", "--machine", "cpu-host", "--nodes", nodes, "-o", file, "--force"})
                  .status,
              0);
    expect_refused({"plan", file, "--check"}, folder, {ProblemCode::kTooLarge, "--check"});
  }
}

}  // namespace
}  // namespace tutti
