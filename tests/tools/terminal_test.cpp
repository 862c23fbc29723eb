// The width and the colours of reports on a terminal.

#include "tools/tutti/io/terminal.h"

#include <sstream>

#include "tests/tools/command_line.h"
#include "tools/tutti/init.h"

namespace tutti {
namespace {

using tools::shortened;
using tools::text_width;
using tools::wrapped;

std::size_t longest_line(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, text_width(line));
  return most;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(Terminal, ShortensTheMiddleByCharacters) {
  EXPECT_EQ(shortened("w0/cpu0→w0/plx0", 15), "w0/cpu0→w0/plx0");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(text_width(shortened("w0/cpu0→w0/plx0", 10)), 10u);
}

TEST(Terminal, WrapsProseWithAHangingIndentAndKeepsRowsOfTables) {
  const std::string prose =
      "  5.36 ms: pack 3 in flight: 2.27 ms waiting for a busy link, 1.45 ms transfer\n";
  const std::string shown = wrapped(prose, 40);
  EXPECT_LE(longest_line(shown), 40u);
  EXPECT_EQ(without_blanks(shown), without_blanks(prose));
  EXPECT_THAT(shown, HasSubstr("\n    "));
  const std::string row = "  step time  exposed  strategy.algorithm  strategy.shards\n";
  EXPECT_EQ(wrapped(row, 40), row);
  const std::string titled = "  cluster   a cluster with a name that is long, and more words\n";
  EXPECT_THAT(wrapped(titled, 45), HasSubstr("\n            "));
  EXPECT_EQ(wrapped("", 40), "");
}

TEST(Terminal, ReportsFitIntoItsWidth) {
  const test::RunOptions narrow{.environment = {{"COLUMNS", "90"}}};
  for (const char* name : {"04_resnet50_ring", "06_resnet50_nccl"}) {
    for (const char* command : {"simulate", "plan"}) {
      EXPECT_GT(longest_line(run_tutti({command, scenario(name)}).out), 90u) << command;
      const Outcome fitted = run_tutti({command, scenario(name)}, narrow);
      ASSERT_EQ(fitted.status, 0) << fitted.err;
      EXPECT_LE(longest_line(fitted.out), 90u) << command << '\n' << fitted.out;
    }
  }
  EXPECT_THAT(run_tutti({"simulate", scenario("06_resnet50_nccl")}, narrow).out,
              HasSubstr("--verbose also show: by NCCL, last gradient"));
  // JSON is never wrapped.
  const std::vector<std::string> json{"simulate", scenario("04_resnet50_ring"), "--format", "json"};
  EXPECT_EQ(run_tutti(json, {.environment = {{"COLUMNS", "50"}}}).out, run_tutti(json).out);
}

TEST(Terminal, AlikeLinksShareARowUnlessVerbose) {
  const Outcome grouped = run_tutti({"simulate", scenario("04_resnet50_ring")});
  const Outcome all = run_tutti({"simulate", scenario("04_resnet50_ring"), "--verbose"});
  const auto rows = [](const std::string& text) {
    const std::string links = text.substr(text.find("busiest of 42 links"));
    const std::string table = links.substr(0, links.find("\n\n"));
    return std::count(table.begin(), table.end(), '\n') + 1 - 2;  // heading, and names of columns
  };
  EXPECT_LE(rows(grouped.out), 10);
  EXPECT_EQ(rows(all.out), 42);
  EXPECT_THAT(grouped.out, HasSubstr("links  kind"));
  EXPECT_THAT(all.out, Not(HasSubstr("links  kind")));
}

TEST(Terminal, ColorsAreForTerminalsUnlessRequested) {
  const std::string escape = "\033[";
  const std::vector<std::string> words{"simulate", "none.textproto"};
  EXPECT_THAT(run_tutti(words).err, Not(HasSubstr(escape)));
  const auto always = test::with(words, {"--color", "always"});
  EXPECT_THAT(run_tutti(always).err, HasSubstr("\033[1;31m"));
  EXPECT_THAT(run_tutti(always, {.environment = {{"NO_COLOR", "1"}}}).err, HasSubstr(escape));
  EXPECT_THAT(run_tutti(test::with(words, {"--color", "never"})).err, Not(HasSubstr(escape)));
  const Outcome report = run_tutti({"simulate", scenario("04_resnet50_ring"), "--color=always"});
  EXPECT_THAT(report.out, HasSubstr("\033[33mnote:\033[0m extrapolated"));
  const TemporaryFolder folder;
  expect_refused({"plan", scenario("01_two_ranks"), "--color", "pink"}, folder,
                 {ProblemCode::kUnknownName, "--color"});
}

// --- tutti init as a form ---

TEST(InitForm, AsksAndTakesDefaults) {
  const core::Library library(test::source_folder() + "/scenarios");
  std::istringstream in("?\nvgg16\nvgg16_torchvision\n\nmany\n4\n\nndr\n\nnew.textproto\n");
  std::ostringstream out;
  const auto chosen = tools::ask_for_scenario(in, out, library);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->model, "vgg16_torchvision");
  EXPECT_EQ(chosen->machine, tools::InitOptions().machine);
  EXPECT_EQ(chosen->nodes, 4);
  EXPECT_EQ(chosen->link, "ndr");
  EXPECT_EQ(chosen->algorithm, "nccl");
  EXPECT_EQ(chosen->output, "new.textproto");
  EXPECT_THAT(out.str(), AllOf(HasSubstr("  bert_large_tf\n"), HasSubstr("did you mean \"vgg16_"),
                               HasSubstr("expected a whole number")));
}

TEST(InitForm, EndsWithItsInput) {
  const core::Library library(test::source_folder() + "/scenarios");
  std::istringstream in("vgg16_torchvision\n");
  std::ostringstream out;
  EXPECT_FALSE(tools::ask_for_scenario(in, out, library));
}

TEST(InitForm, AMachineAloneHasNoNetwork) {
  const core::Library library(test::source_folder() + "/scenarios");
  std::istringstream in("\n\n1\n\nnew.textproto\n");
  std::ostringstream out;
  const auto chosen = tools::ask_for_scenario(in, out, library);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->nodes, 1);
  EXPECT_THAT(out.str(), Not(HasSubstr("Network")));
}

}  // namespace
}  // namespace tutti
