// The width and the colours of reports on a terminal.

#include "tools/tutti/io/terminal.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "tests/tools/command_line.h"
#include "tools/tutti/init.h"
#include "tools/tutti/report/table.h"

namespace tutti {
namespace {

using tools::elided_middle;
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
  EXPECT_EQ(elided_middle("w0/cpu0→w0/plx0", 15), "w0/cpu0→w0/plx0");
  EXPECT_EQ(elided_middle("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(text_width(elided_middle("w0/cpu0→w0/plx0", 10)), 10u);
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
  EXPECT_EQ(wrapped("      1  send   data[0..7564272) ← rank 15 → rank 1 lane 0", 52),
            "      1  send   data[0..7564272) ← rank 15 → rank 1\n                  lane 0");
  EXPECT_EQ(wrapped("", 40), "");
  EXPECT_EQ(wrapped("    all_reduce|reduce_scatter|all_gather|broadcast|reduce", 40),
            "    all_reduce|reduce_scatter|\n      all_gather|broadcast|reduce");
}

TEST(Terminal, WrappedCommentLinesOfPerfStayComments) {
  EXPECT_EQ(wrapped("# time: Tutti's prediction; estimate: NCCL's own\n", 40),
            "# time: Tutti's prediction; estimate:\n#   NCCL's own\n");
  EXPECT_EQ(wrapped("# note: these variables are set and change nothing\n", 40),
            "# note: these variables are set and\n#       change nothing\n");
  const std::string heading = "#         size          time     algbw    busbw\n";
  EXPECT_EQ(wrapped(heading, 40), heading);
}

TEST(Terminal, PerfFitsIntoItsWidth) {
  const test::RunOptions narrow{.environment = {{"COLUMNS", "80"}}};
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"perf", "--cluster", "hgx-h100", "--nodes", "2", "-b", "1M", "-e", "4M"},
           {"perf", scenario("04_resnet50_ring"), "-b", "1M", "-e", "4M"}}) {
    EXPECT_GT(longest_line(run_tutti(command).out), 80u) << command.back();
    const Outcome fitted = run_tutti(command, narrow);
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    EXPECT_LE(longest_line(fitted.out), 80u) << fitted.out;
    EXPECT_THAT(fitted.out, HasSubstr("# omitted to fit the terminal"));
    std::istringstream lines(fitted.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.starts_with('#') || line.starts_with("  ")) << line;
  }
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

TEST(Terminal, IdenticalLinksShareARowUnlessVerbose) {
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

/// Sets COLUMNS of this process, and restores it.
class Columns {
 public:
  explicit Columns(const char* columns) {
    if (const char* const before = std::getenv("COLUMNS")) before_ = before;
    ::setenv("COLUMNS", columns, 1);
  }
  ~Columns() { before_ ? ::setenv("COLUMNS", before_->c_str(), 1) : ::unsetenv("COLUMNS"); }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(Terminal, TablesKeepSettingsAndPaths) {
  const Columns columns("60");
  tools::Table table({"step time", "exposed", "over least", "packs", "<!strategy.algorithm",
                      "<!strategy.bytes_per_pack"});
  table.row({"112.1 ms", "10 ms", "0.3 %", "161", "nccl/recursive_doubling", "25 MiB"});
  EXPECT_EQ(table.text(2),
            "  step time  exposed  strategy.algorithm    strategy.\n"
            "                                            bytes_per_pack\n"
            "   112.1 ms    10 ms  nccl/                 25 MiB\n"
            "                      recursive_doubling\n"
            "  … wider terminals and --verbose also show: over least, packs\n");
  const std::string path = "/a/long/path/of/a/file/that/is/wider/than/the/terminal/x.csv";
  tools::Table files({"<name", "<file"});
  files.row({"one", path});
  EXPECT_THAT(files.text(2), HasSubstr(path));
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

TEST(Terminal, TextsFromFilesCannotControlIt) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", R"(
name: "n\033[2Jame\302\233"
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "a\033]0;title\007" shape: [1000, 1000] } }
strategy { algorithm: "ring" bytes_per_pack: 0 }
)");
  // The name of the timeline is printed in a note.
  const std::string timeline = folder.file("t\033[1m.tutti");
  for (const char* const color : {"never", "always"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"simulate", file, "--timeline", timeline},
          {"explain", file},
          {"plan", file, "--variables"},
          {"compare", timeline, timeline}}) {
      const Outcome o = run_tutti(test::with(words, {"--color", color}));
      EXPECT_EQ(o.status, 0) << o.err;
      for (const std::string& text : {o.out, o.err}) {
        EXPECT_THAT(text, Not(HasSubstr("\033[2J"))) << words[0];
        EXPECT_THAT(text, Not(HasSubstr("\033]"))) << words[0];
        EXPECT_THAT(text, Not(HasSubstr("\007"))) << words[0];
        EXPECT_THAT(text, Not(HasSubstr("\302\233"))) << words[0];
        EXPECT_THAT(text, Not(HasSubstr("t\033[1m"))) << words[0];
      }
    }
  }
}

TEST(Terminal, HeadingsKeepTheirStyle) {
  const Outcome o = run_tutti({"simulate", scenario("04_resnet50_ring"), "--color=always"});
  EXPECT_THAT(o.out, HasSubstr("\033[1m"));
}

// --- tutti init as a form ---

TEST(InitForm, AsksAndAcceptsDefaults) {
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

TEST(InitForm, AsksAgainForANumberThatIsTooLarge) {
  const core::Library library(test::source_folder() + "/scenarios");
  std::istringstream in("\n\n99999999999\n0\n2147483648\n3\n\n\n\nnew.textproto\n");
  std::ostringstream out;
  const auto chosen = tools::ask_for_scenario(in, out, library);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->nodes, 3);
  const std::string text = out.str(), why = "expected a whole number from 1 to 2147483647";
  std::size_t count = 0;
  for (std::size_t at = text.find(why); at != std::string::npos; at = text.find(why, at + 1))
    ++count;
  EXPECT_EQ(count, 3u);
}

TEST(InitForm, OffersAFreeFileName) {
  const core::Library library(test::source_folder() + "/scenarios");
  const TemporaryFolder folder;
  for (const char* name : {"vgg16_torchvision.textproto", "vgg16_torchvision_2.textproto"})
    static_cast<void>(folder.write(name, ""));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::istringstream in("vgg16_torchvision\n\n1\n\n\n");
  std::ostringstream out;
  const auto chosen = tools::ask_for_scenario(in, out, library);
  std::filesystem::current_path(before);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->output, "vgg16_torchvision_3.textproto");
  EXPECT_THAT(out.str(), HasSubstr("File to write [vgg16_torchvision_3.textproto]: "));
}

TEST(InitForm, EndsAtTheEndOfItsInput) {
  const core::Library library(test::source_folder() + "/scenarios");
  std::istringstream in("vgg16_torchvision\n");
  std::ostringstream out;
  EXPECT_FALSE(tools::ask_for_scenario(in, out, library));
}

TEST(InitForm, OneMachineHasNoNetwork) {
  const core::Library library(test::source_folder() + "/scenarios");
  std::istringstream in("\n\n1\n\nnew.textproto\n");
  std::ostringstream out;
  const auto chosen = tools::ask_for_scenario(in, out, library);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->nodes, 1);
  EXPECT_THAT(out.str(), Not(HasSubstr("Network")));
}

TEST(InitForm, ReturnsToThePreviousQuestion) {
  const core::Library library(test::source_folder() + "/scenarios");
  // The machine is corrected. Then the number of machines becomes 1, so the kind of link that was
  // chosen before does not apply.
  std::istringstream in(
      "<\nvgg16_torchvision\ndgx1-v100\n<\ndgx-a100\n4\nrails\nndr\n<\n<\n<\n1\n\nnew.textproto\n");
  std::ostringstream out;
  const auto chosen = tools::ask_for_scenario(in, out, library);
  ASSERT_TRUE(chosen) << out.str();
  EXPECT_EQ(chosen->model, "vgg16_torchvision");
  EXPECT_EQ(chosen->machine, "dgx-a100");
  EXPECT_EQ(chosen->nodes, 1);
  EXPECT_EQ(chosen->link, "");
  EXPECT_EQ(chosen->network, tools::InitOptions().network);
  EXPECT_EQ(chosen->output, "new.textproto");
  EXPECT_THAT(out.str(), AllOf(HasSubstr("this is the first question"),
                               HasSubstr("Number of machines [4]: ")));
}

}  // namespace
}  // namespace tutti
