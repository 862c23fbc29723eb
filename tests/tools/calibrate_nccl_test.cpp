// tutti calibrate --cluster, which corrects NCCL's predicted times from logs of nccl-tests. Further
// tests check the commands that use the result, and logs that are rejected.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "tests/tools/command_line.h"

namespace tutti::test {
namespace {

using testing::HasSubstr;

void put(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  static_cast<void>(folder.write(name, text));
}

/// The times that `tutti perf --cluster` predicts, and the widths of their error bands, by bytes.
struct Predicted {
  std::map<std::int64_t, double> us, width;
};

Predicted perf(const std::vector<std::string>& more, const TemporaryFolder& folder) {
  const Outcome o = run_tutti(with({"perf", "--cluster", "hgx-h100", "-b", "1K", "-e", "256M", "-f",
                                    "16", "--format", "json"},
                                   more),
                              {.folder = folder.path()});
  EXPECT_EQ(o.status, 0) << o.err;
  Predicted made;
  const core::Value document = parse_or_throw(o.out, "out");
  for (const Data& row : Data(document)["rows"].items()) {
    made.us[row["bytes"].number()] = row["time_us"].real();
    made.width[row["bytes"].number()] = row["time_high_us"].real() / row["time_low_us"].real();
  }
  return made;
}

/// Returns a log of all_reduce_perf on eight H100 with one process each, whose times are `factor`
/// times the predicted ones.
std::string log(const Predicted& predicted, double factor,
                const std::string& device = "NVIDIA H100 80GB HBM3") {
  std::string text =
      "# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809\n"
      "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 1024\n#\n# Using "
      "devices\n";
  for (int rank = 0; rank < 8; ++rank)
    text += fmt::format("#  Rank {0} Group  0 Pid {1} on node0 device {0} [0x0{0}] {2}\n", rank,
                        4000 + rank, device);
  text += "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  for (const auto& [bytes, us] : predicted.us)
    text += fmt::format("{} {} float sum -1 {:.3f} {:.4f} {:.4f} 0\n", bytes, bytes / 4,
                        us * factor, static_cast<double>(bytes) / us / factor / 1e3,
                        1.75 * static_cast<double>(bytes) / us / factor / 1e3);
  return text;
}

TEST(CalibrateNccl, ALogOfOneCollectiveCorrectsAnother) {
  const TemporaryFolder folder;
  const Predicted all_reduce = perf({}, folder);
  put(folder, "A.log", log(all_reduce, 1.4));
  const Outcome made = run_tutti({"calibrate", "--cluster", "hgx-h100", "--log", "A.log", "-o",
                                  "mine.calibration", "--format", "json"},
                                 {.folder = folder.path()});
  ASSERT_EQ(made.status, 0) << made.err;
  const core::Value document = parse_or_throw(made.out, "out");
  const Data table = Data(document)["tables"].items().at(0);
  EXPECT_EQ(table["nccl_version"].text(), "2.28.9");
  EXPECT_EQ(table["driving"].text(), "process_per_gpu");
  EXPECT_EQ(Data(document)["notes"].items().size(), 0U) << "the log contains everything";
  const Predicted own = perf({"--calibration", "mine.calibration"}, folder);
  const Predicted cold = perf({"--collective", "all_gather"}, folder);
  const Predicted other =
      perf({"--collective", "all_gather", "--calibration", "mine.calibration"}, folder);
  for (const auto& [bytes, us] : own.us) {
    EXPECT_NEAR(us / all_reduce.us.at(bytes), 1.4, 0.2) << bytes;
    EXPECT_LT(own.width.at(bytes), all_reduce.width.at(bytes)) << bytes;
  }
  EXPECT_GT(other.us.at(1024) / cold.us.at(1024), 1.1);
  // The correction is weaker for clusters that differ more from the measured one.
  const Predicted far_cold = perf({"--nodes", "16"}, folder);
  const Predicted far = perf({"--nodes", "16", "--calibration", "mine.calibration"}, folder);
  EXPECT_GT(far.width.at(1024) / far_cold.width.at(1024),
            own.width.at(1024) / all_reduce.width.at(1024));
}

TEST(CalibrateNccl, CanBeExtendedAndSuggestsWhatToMeasure) {
  const TemporaryFolder folder;
  put(folder, "A.log", log(perf({}, folder), 1.2));
  const std::vector<std::string> words{"calibrate", "--cluster", "hgx-h100"};
  ASSERT_EQ(
      run_tutti(with(words, {"--log", "A.log", "-o", "one.calibration"}), {.folder = folder.path()})
          .status,
      0);
  ASSERT_EQ(run_tutti(with(words, {"--log", "A.log", "--calibration", "one.calibration", "-o",
                                   "two.calibration"}),
                      {.folder = folder.path()})
                .status,
            0);
  EXPECT_THAT(folder.read("two.calibration"), HasSubstr("table {"));
  EXPECT_GT(folder.read("two.calibration").size(), folder.read("one.calibration").size());
  const Outcome next = run_tutti(with(words, {"--nodes", "4", "--calibration", "one.calibration",
                                              "--suggest", "--format", "json"}),
                                 {.folder = folder.path()});
  ASSERT_EQ(next.status, 0) << next.err;
  const core::Value document = parse_or_throw(next.out, "out");
  const auto suggestions = Data(document)["suggestions"].items();
  ASSERT_GT(suggestions.size(), 3U);
  EXPECT_LT(suggestions[0]["band_width"].real(), Data(document)["band_width"].real());
  EXPECT_EQ(suggestions[0]["nodes"].number(), 4)
      << "the largest communicator is the most informative";
  for (std::size_t i = 1; i < suggestions.size(); ++i)
    EXPECT_GE(suggestions[i]["band_width"].real(), suggestions[i - 1]["band_width"].real());
}

TEST(CalibrateNccl, ScenariosUseTheCalibration) {
  const TemporaryFolder folder;
  put(folder, "A.log", log(perf({}, folder), 1.4));
  ASSERT_EQ(
      run_tutti({"calibrate", "--cluster", "hgx-h100", "--log", "A.log", "-o", "mine.calibration"},
                {.folder = folder.path()})
          .status,
      0);
  const std::string text = R"(cluster { workers { machine: "hgx-h100" } }
workload { variable { name: "a" shape: [1000000] } backward_ms: 0 update_ms: 0 }
strategy { algorithm: "nccl" }
)";
  put(folder, "plain.textproto", text);
  put(folder, "calibrated.textproto",
      "cluster { nccl_calibration: \"mine.calibration\" " + text.substr(10));
  put(folder, "ampere.textproto",
      "cluster { nccl_calibration: \"mine.calibration\" workers { machine: \"dgx-a100\" } }" +
          text.substr(text.find('\n')));
  put(folder, "gone.textproto",
      "cluster { nccl_calibration: \"gone.calibration\" " + text.substr(10));
  const auto step = [&](const std::vector<std::string>& words) {
    const Outcome o =
        run_tutti(with({"simulate", "--format", "json"}, words), {.folder = folder.path()});
    EXPECT_EQ(o.status, 0) << o.err;
    const core::Value document = parse_or_throw(o.out, "out");
    return Data(document)["step_time_us"].real();
  };
  const double plain = step({"plain.textproto"}), calibrated = step({"calibrated.textproto"});
  EXPECT_NEAR(calibrated / plain, 1.4, 0.2);
  EXPECT_EQ(step({"plain.textproto", "--calibration", "mine.calibration"}), calibrated);
  const Outcome other =
      run_tutti({"simulate", "ampere.textproto", "--format", "json"}, {.folder = folder.path()});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(kinds_of(core::Expected<int>(tl::unexpected(error_in(other.out)))),
              testing::ElementsAre("conflict Cluster.nccl_calibration"));
  EXPECT_EQ(run_tutti({"simulate", "gone.textproto"}, {.folder = folder.path()}).status, 2);
}

/// A time of 0 would make a calibration file that cannot be read. nccl-tests prints rows of 0 bytes
/// if they are requested.
TEST(CalibrateNccl, RefusesImpossibleTimesAndSkipsEmptyCollectives) {
  const TemporaryFolder folder;
  const Predicted all_reduce = perf({}, folder);
  const std::string whole = log(all_reduce, 1.2);
  const std::pair<const char*, const char*> wrong[] = {
      {"4096 1024 float sum -1 1000000000000 0.00 0.00 0", "too-large time"},
      {"4096 1024 float sum -1 0.0000 0 0 0", "too-small time"}};
  for (const auto& [row, problem] : wrong) {
    put(folder, "wrong.log", whole + row + "\n");
    const Outcome o = run_tutti({"calibrate", "--cluster", "hgx-h100", "--log", "wrong.log", "-o",
                                 "wrong.calibration", "--format", "json"},
                                {.folder = folder.path()});
    EXPECT_EQ(o.status, 2) << row;
    EXPECT_THAT(kinds_of(core::Expected<int>(tl::unexpected(error_in(o.out)))),
                testing::ElementsAre(problem));
    EXPECT_FALSE(std::filesystem::exists(folder.file("wrong.calibration")));
  }
  put(folder, "empty.log", whole + "0 0 float sum -1 3.1 0.00 0.00 0\n");
  ASSERT_EQ(run_tutti({"calibrate", "--cluster", "hgx-h100", "--log", "empty.log", "-o",
                       "empty.calibration"},
                      {.folder = folder.path()})
                .status,
            0);
  EXPECT_FALSE(perf({"--calibration", "empty.calibration"}, folder).us.empty())
      << "the file can be read again";
}

TEST(CalibrateNccl, RefusesOptionsAndLogsThatDoNotMatch) {
  const TemporaryFolder folder;
  put(folder, "A.log", log(perf({}, folder), 1));
  const auto refused = [&](const std::vector<std::string>& words) {
    const Outcome o = run_tutti(with(words, {"--format", "json"}), {.folder = folder.path()});
    EXPECT_EQ(o.status, 2) << o.out;
    return kinds_of(core::Expected<int>(tl::unexpected(error_in(o.out))));
  };
  EXPECT_THAT(refused({"calibrate", "--cluster", "dgx-a100", "--log", "A.log"}),
              testing::ElementsAre("conflict --cluster"));
  EXPECT_THAT(refused({"calibrate", "--cluster", "hgx-h100"}),
              testing::ElementsAre("missing --log"));
  EXPECT_THAT(refused({"calibrate", "--log", "A.log"}), testing::ElementsAre("missing --cluster"));
  EXPECT_THAT(refused({"calibrate", "x.textproto", "--log", "A.log", "--suggest"}),
              testing::ElementsAre("unused --suggest"));
  EXPECT_THAT(refused({"calibrate", "--cluster", "hgx-h100", "--run", "x", "--log", "A.log"}),
              testing::ElementsAre("conflict --run"));
  put(folder, "mine.calibration", "table { row { } } nonsense: 1");
  EXPECT_FALSE(
      refused({"perf", "--cluster", "hgx-h100", "--calibration", "mine.calibration"}).empty());
  // A file of another kind is not overwritten.
  put(folder, "notes.txt", "keep me");
  EXPECT_EQ(run_tutti({"calibrate", "--cluster", "hgx-h100", "--log", "A.log", "-o", "notes.txt"},
                      {.folder = folder.path()})
                .status,
            2);
  EXPECT_EQ(folder.read("notes.txt"), "keep me");
}

}  // namespace
}  // namespace tutti::test
