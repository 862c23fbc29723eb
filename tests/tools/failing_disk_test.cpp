// Runs every command that writes a file on a disk on which the n-th write, sync or rename fails,
// for every n. The command must report the failure, and the file must be complete or unchanged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "core/timeline/reader.h"
#include "tests/support/process.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

using core::TimelineReader;
using test::Outcome;
using test::Process;
using test::TemporaryFolder;
using testing::AnyOf;
using testing::HasSubstr;

/// Number of calls that are tried per command, evenly spaced. With TUTTI_TEST_THOROUGH, all calls
/// are tried.
constexpr long kTried = 5;

class Disk {
 public:
  explicit Disk(const TemporaryFolder& folder, std::string how = "full", long failing = 0)
      : folder_(folder), how_(std::move(how)), failing_(failing) {}

  Outcome run(std::vector<std::string> words) const {
    words.insert(words.begin(), test::tutti_program());
    return Process::of(std::move(words),
                       {.environment = {{"LD_PRELOAD", TUTTI_FAILING_FILES},
                                        {"TUTTI_FAILING_FOLDER", folder_.path()},
                                        {"TUTTI_FAILING_HOW", how_},
                                        {"TUTTI_FAILING_CALL", std::to_string(failing_)},
                                        {"TUTTI_FAILING_COUNT", count_file()}}})
        .wait();
  }
  [[nodiscard]] long calls() const { return std::atol(counts_.read("count").c_str()); }

 private:
  [[nodiscard]] std::string count_file() const { return counts_.file("count"); }

  const TemporaryFolder& folder_;
  std::string how_;
  long failing_;
  TemporaryFolder counts_;
};

std::vector<long> tried_of(long calls) {
  const bool all = std::getenv("TUTTI_TEST_THOROUGH") != nullptr;
  const long stride = all ? 1 : std::max(1L, calls / kTried);
  std::vector<long> tried;
  for (long n = 1; n <= calls; n += stride) tried.push_back(n);
  if (tried.empty() || tried.back() != calls) tried.push_back(calls);
  return tried;
}

/// Runs the command `words`, which writes the file `output`, with every failure. `is_whole`:
/// returns true if a content is complete. `old_one`: the previous content of the file.
void expect_whole_or_untouched(const TemporaryFolder& folder, const std::vector<std::string>& words,
                               const std::string& output,
                               const std::function<bool(const std::string& content)>& is_whole,
                               long at_least) {
  const std::string old_one = folder.read(output);
  {
    const Disk disk(folder);
    const Outcome o = disk.run(words);
    ASSERT_EQ(o.status, 0) << o.err;
    ASSERT_GE(disk.calls(), at_least) << "of its writes some are not seen";
    ASSERT_TRUE(is_whole(folder.read(output)));
  }
  const Disk counting(folder);
  counting.run(words);
  const auto before = folder.files();
  for (const char* const how : {"full", "eio", "short"}) {
    for (const long n : tried_of(counting.calls())) {
      static_cast<void>(folder.write(output, old_one));
      const Disk disk(folder, how, n);
      const Outcome o = disk.run(words);
      const std::string what = fmt::format("{} {} {}: {}", words[0], how, n, o.err);
      const std::string now = folder.read(output);
      EXPECT_TRUE(now == old_one || is_whole(now)) << what;
      if (o.status == 0) {
        EXPECT_TRUE(is_whole(now)) << what;
      }
      if (o.status != 0) {
        EXPECT_EQ(o.status, 1) << what;
        EXPECT_EQ(now, old_one) << what;
        EXPECT_THAT(o.err, HasSubstr(output)) << what;
        EXPECT_THAT(o.err, AnyOf(HasSubstr("No space left"), HasSubstr("nput/output error")))
            << what;
      }
      if (std::string(how) == "short") {
        EXPECT_EQ(o.status, 0) << what;
      }
      for (const std::string& left : folder.files()) {
        if (std::count(before.begin(), before.end(), left) > 0) continue;
        EXPECT_THAT(left, testing::EndsWith(".part")) << what;
        const auto part = TimelineReader::open(folder.file(left));
        EXPECT_TRUE(part) << what << "\na part of which nothing can be read";
        EXPECT_THAT(o.err, HasSubstr(left)) << what;
        std::remove(folder.file(left).c_str());
      }
    }
  }
}

const char* const kOld = "# what was there before\n";

TEST(FailingDisk, FailsDuringASimulation) {
  const TemporaryFolder folder;
  const std::string old_one = folder.write("t.tutti", "TUTTITL1");
  expect_whole_or_untouched(
      folder,
      {"simulate", test::scenario("05_resnet50_pscpu"), "--steps", "4", "--remember", "off",
       "--record", "steps", "--timeline", folder.file("t.tutti")},
      "t.tutti",
      [](const std::string& content) {
        const auto read = TimelineReader::from_bytes(content, "t");
        return read && read->complete() && read->steps().size() == 4;
      },
      4);
}

TEST(FailingDisk, FailsDuringExportsInitAndConversions) {
  const TemporaryFolder folder, inputs;
  const std::string timeline = inputs.file("t.tutti");
  ASSERT_EQ(test::run_tutti({"simulate", test::scenario("05_resnet50_pscpu"), "--steps", "2",
                             "--record", "steps", "--timeline", timeline})
                .status,
            0);
  const std::string out = folder.file("out");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"export", timeline, "--to", "perfetto", "-o", out},
           {"export", timeline, "--to", "csv", "--table", "spans", "-o", out},
           {"export", timeline, "--to", "svg", "-o", out},
           {"convert", test::scenario("05_resnet50_pscpu"), "-o", out}}) {
    std::remove(out.c_str());
    ASSERT_EQ(test::run_tutti(words).status, 0);
    const std::string good = folder.read("out");
    static_cast<void>(folder.write("out", kOld));
    expect_whole_or_untouched(
        folder, words, "out", [&](const std::string& content) { return content == good; }, 3);
  }
}

TEST(FailingDisk, FailsDuringACalibration) {
  const TemporaryFolder folder, inputs;
  const std::string file = inputs.write("s.textproto", R"(
cluster { workers { machine: "m" count: 2 } network { kind: ONE_SWITCH latency_us: 2 }
  machine { name: "m" device { name: "cpu0" kind: CPU memory_gb_per_s: 90 }
    nic { name: "n" bandwidth_gb_per_s: 10 }
    link { from: "cpu0" to: "n" kind: PCIE bandwidth_gb_per_s: 50 latency_us: 0.1 } } }
workload { variable { name: "a" shape: 30000 } } strategy { algorithm: "ring" }
)");
  const std::string log =
      inputs.write("log", test::run_tutti({"perf", file, "-b", "1K", "-e", "4M", "-f", "4"}).out);
  const std::vector<std::string> words{"calibrate", file, "--log",
                                       log,         "-o", folder.file("out.textproto")};
  const Outcome first = test::run_tutti(words);
  ASSERT_EQ(first.status, 0) << first.err;
  const std::string good = folder.read("out.textproto");
  // A file of another kind is not overwritten.
  static_cast<void>(folder.write("out.textproto", good + kOld));
  expect_whole_or_untouched(
      folder, words, "out.textproto", [&](const std::string& content) { return content == good; },
      3);
}

/// Committed rows are kept after every failure, and the same command continues from them.
TEST(FailingDisk, FailsDuringASweep) {
  const TemporaryFolder inputs;
  const std::string file = inputs.write("s.textproto", R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "alexnet_torchvision" batch: 32 } strategy { algorithm: "ring" }
)");
  const auto words = [&](const TemporaryFolder& folder) {
    return std::vector<std::string>{"sweep",  file,
                                    "--over", "strategy.launch_us=1..8+1",
                                    "-o",     folder.file("a.sweep"),
                                    "--csv",  folder.file("a.csv")};
  };
  std::string good;
  long calls = 0;
  {
    const TemporaryFolder folder;
    const Disk disk(folder);
    ASSERT_EQ(disk.run(words(folder)).status, 0);
    good = folder.read("a.csv");
    calls = disk.calls();
    ASSERT_GE(calls, 20);
  }
  for (const char* const how : {"full", "eio", "short"}) {
    for (const long n : tried_of(calls)) {
      const TemporaryFolder folder;
      const Disk disk(folder, how, n);
      const Outcome o = disk.run(words(folder));
      const std::string what = fmt::format("{} {}: {}", how, n, o.err);
      EXPECT_TRUE(o.status == 0 || o.status == 1) << what;
      if (o.status == 1) {
        EXPECT_THAT(o.err, AnyOf(HasSubstr("a.sweep"), HasSubstr("a.csv"))) << what;
      }
      EXPECT_THAT(o.err, testing::Not(HasSubstr("should never happen"))) << what;
      const Outcome again = test::run_tutti(words(folder));
      EXPECT_EQ(again.status, 0) << what << again.err;
      EXPECT_EQ(folder.read("a.csv"), good) << what;
    }
  }
}

}  // namespace
}  // namespace tutti
