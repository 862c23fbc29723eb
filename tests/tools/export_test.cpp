// tutti export and tutti compare, for timelines that are complete, truncated or damaged.

#include <csignal>
#include <fstream>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti {
namespace {

class Export : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        run_tutti({"simulate", folder.write("s.textproto", kSmall), "--timeline", timeline}).status,
        0);
  }
  TemporaryFolder folder;
  std::string timeline = folder.file("t.tutti");
};

TEST_F(Export, WritesIntoTheFolderOfTheTimeline) {
  for (const char* form : {"perfetto", "csv", "svg"})
    EXPECT_EQ(run_tutti({"export", timeline, "--to", form}).status, 0);
  EXPECT_THAT(folder.files(),
              ElementsAre("s.textproto", "t.perfetto-trace", "t.spans.csv", "t.svg", "t.tutti"));
  EXPECT_THAT(folder.read("t.svg"), AllOf(StartsWith("<svg"), EndsWith("</svg>\n")));
}

TEST_F(Export, PrintsJson) {
  const Outcome o = run_tutti({"export", timeline, "--to", "svg", "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  EXPECT_EQ(Data(document)["complete"].value().text, "true");
  EXPECT_EQ(Data(document)["written"].text(), folder.file("t.svg"));
}

TEST_F(Export, WritesEveryTable) {
  for (const char* table : {"spans", "packs", "steps", "links", "path"}) {
    const Outcome o = run_tutti({"export", timeline, "--to", "csv", "--table", table, "-o", "-"});
    EXPECT_EQ(o.status, 0);
    std::istringstream lines(o.out);
    std::string heading, line;
    std::getline(lines, heading);
    EXPECT_THAT(heading, HasSubstr(",")) << table;
    int rows = 0;
    while (std::getline(lines, line)) ++rows;
    EXPECT_GT(rows, 0) << table;
  }
}

TEST_F(Export, OverwritesNoInput) {
  expect_refused({"export", timeline, "--to", "csv", "-o", timeline}, folder,
                 {.code = ProblemCode::kConflict, .file = timeline});
  expect_refused({"export", folder.file("s.textproto"), "--to", "svg"}, folder,
                 {.code = ProblemCode::kWrongType, .file = folder.file("s.textproto")});
  expect_refused({"export", folder.file("absent.tutti"), "--to", "svg"}, folder,
                 {.code = ProblemCode::kMissing, .file = folder.file("absent.tutti")});
  EXPECT_EQ(run_tutti({"export", timeline, "--to", "svg", "-o", "/dev/full"}).status, 1);
}

TEST_F(Export, ReadsTimelinesOfCrashedRuns) {
  const std::string whole = folder.read("t.tutti");
  const std::string left_over = folder.write("lost.svg.part", whole.substr(0, whole.size() - 100));
  EXPECT_EQ(run_tutti({"export", left_over, "--to", "svg", "-o", folder.file("lost.svg")}).status,
            0);
  EXPECT_EQ(folder.read("lost.svg.part").size(), whole.size() - 100);
  EXPECT_THAT(folder.read("lost.svg"), EndsWith("</svg>\n"));
  EXPECT_THAT(folder.files(), ElementsAre("lost.svg", "lost.svg.part", "s.textproto", "t.tutti"));
}

TEST_F(Export, AnInterruptLeavesNoFile) {
  const std::string large = folder.file("large.tutti");
  ASSERT_EQ(run_tutti({"simulate", scenario("05_resnet50_pscpu"), "--timeline", large}).status, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string trace = folder.file("large.perfetto-trace");
    const Outcome o = run_tutti({"export", large, "--to", "perfetto"},
                                {.interrupt_once = trace + ".part", .signal = number});
    if (o.status == 0) continue;  // the command ended before the signal
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.err, HasSubstr("interrupted"));
    EXPECT_THAT(folder.files(), ElementsAre("large.tutti", "s.textproto", "t.tutti"));
  }
}

TEST_F(Export, ReadsATruncatedTimelineUpToItsEnd) {
  const std::string whole = folder.read("t.tutti");
  const std::string cut = folder.write("cut.tutti", whole.substr(0, whole.size() - 100));
  const Outcome o = run_tutti({"export", cut, "--to", "csv", "-o", "-"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.err, AllOf(HasSubstr(cut), test::says_cut_off()));
  EXPECT_EQ(o.out, run_tutti({"export", timeline, "--to", "csv", "-o", "-"}).out)
      << "only the index was cut off";
}

// --- init ---

// --- compare ---

TEST_F(Export, ATimelineDoesNotDifferFromItself) {
  const Outcome o = run_tutti({"compare", timeline, timeline, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data comparison(document);
  EXPECT_EQ(comparison["step_time"]["difference_us"].real(), 0);
  EXPECT_GT(comparison["packs"].items().size(), 0u);
  for (const Data& pack : comparison["packs"].items())
    EXPECT_EQ(pack["took"]["difference_us"].real(), 0);
  for (const Data& kind : comparison["steps"].items()) EXPECT_EQ(kind["mean_error_us"].real(), 0);
}

TEST(Compare, PrintsTheDifferenceOfAnotherStrategy) {
  const TemporaryFolder folder;
  for (const std::string packs : {"0", "26214400"}) {
    const std::string scenario =
        folder.write("s" + packs + ".textproto",
                     "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: "
                     "ONE_SWITCH latency_us: 1.5 } } workload { model: "
                     "\"resnet50_torchvision\" layer_times: \"resnet50_torchvision_v100\" "
                     "batch: 32 } strategy { algorithm: \"ring\" "
                     "bytes_per_pack: " +
                         packs + " }");
    ASSERT_EQ(run_tutti({"simulate", scenario, "--timeline", folder.file(packs + ".tutti"),
                         "--record", "packs"})
                  .status,
              0);
  }
  const Outcome o = run_tutti(
      {"compare", folder.file("26214400.tutti"), folder.file("0.tutti"), "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data comparison(document);
  EXPECT_EQ(comparison["packs_of_first_only"].number(), 4);
  EXPECT_EQ(comparison["packs_of_second_only"].number(), 1);
  EXPECT_TRUE(comparison["packs"].items().empty()) << "they hold different gradients";
  const double longer = comparison["step_time"]["difference_us"].real();
  EXPECT_GT(comparison["exposed_communication"]["difference_us"].real(), longer / 2)
      << "most of the difference";
  const Outcome text =
      run_tutti({"compare", folder.file("26214400.tutti"), folder.file("0.tutti")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("exposed communication"),
                              HasSubstr("4 packs of the first timeline and 1 of the second")));
}

TEST(Compare, CompareAndExportReadUndamagedParts) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole.tutti");
  ASSERT_EQ(
      run_tutti({"simulate", scenario("06_resnet50_nccl"), "--nccl", "rings", "--timeline", whole})
          .status,
      0);
  std::ifstream stream(whole, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  bytes.replace(bytes.size() / 2, 20, std::string(20, '\xff'));
  const std::string damaged = folder.write("damaged.tutti", bytes);
  const auto says = [](const std::string& what) {
    return testing::MatchesRegex(
        ".*damaged.tutti: [^\n]* byte [0-9]+: [0-9]+ of its [0-9]+ spans [^\n]*w[01]/gpu[0-7], "
        "[^\n]* " +
        what + " [^\n]*\n");
  };
  const Outcome exported = run_tutti({"export", damaged, "--to", "csv", "-o", "-"});
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.err, says("exporting"));
  EXPECT_GT(std::count(exported.out.begin(), exported.out.end(), '\n'), 1000);
  const Outcome compared = run_tutti({"compare", whole, damaged});
  EXPECT_EQ(compared.status, 0);
  EXPECT_THAT(compared.err, says("comparing"));
}

TEST(Compare, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti({"compare", folder.write("a", "x"), folder.file("b")});
  EXPECT_EQ(o.status, 2);
}

}  // namespace
}  // namespace tutti
