// Compares the files that Tutti writes for NCCL's example tuner plugin with NCCL's own choices. A
// model of the plugin reads each file and decides calls of many sizes on several machines, for the
// communicators of a scenario and for others.

#include "core/advice/nccl_tuner_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <stdexcept>

#include "core/nccl/collective_time.h"
#include "core/nccl/tuning/choice.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

struct Where {
  std::string machine;
  int nodes = 1;
  std::string link = "hdr";
};

Scenario scenario(const Where& where, const std::string& strategy, const std::string& rest = "") {
  auto read = read_scenario(fmt::format("cluster {{ workers {{ machine: \"{}\" count: {} }} "
                                        "network {{ kind: ONE_SWITCH link: \"{}\" }} }}\n"
                                        "workload {{ variable {{ name: \"a\" shape: [1000, 1000] "
                                        "}} variable {{ name: \"b\" shape: 50000000 }} "
                                        "forward_ms: 1 backward_ms: 2 }}\nstrategy {{ {} }}\n{}",
                                        where.machine, where.nodes, where.link, strategy, rest),
                            "f.textproto", test::shipped_library());
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  if (!read) throw std::runtime_error(strategy);
  return std::move(*read);
}

struct File {
  std::string text, remark;
};
/// Returns the file for NVIDIA's example plugin.
tl::expected<File, std::string> file_of(const Scenario& recommended) {
  auto made =
      nccl_tuner_table(recommended, test::shipped_library(), tuner_table::Reader::kNvidiaExample);
  if (!made) return tl::make_unexpected(made.error());
  return File{write_table(made->table), made->remark};
}

/// The algorithm, protocol and channels that NCCL uses for a call.
struct Done {
  std::string algorithm, protocol;
  int channels = 0;
  bool operator==(const Done&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Done& done) {
    return out << done.algorithm << ' ' << done.protocol << ' ' << done.channels;
  }
};

std::size_t index_in(const std::vector<std::string>& names, const std::string& name,
                     std::size_t unknown) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  return unknown;
}

/// Models NCCL with its example tuner plugin. The model reads the file and answers as the plugin's
/// code does (v2.27.7 to v2.30.7).
class Plugin {
 public:
  explicit Plugin(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LT(line.size(), 255u) << "longer lines are cut in two";
      if (line.empty() || line.front() == '#') continue;
      std::vector<std::string> cells;
      std::istringstream row(line);
      for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
      if (cells.size() < 8 || cells.size() > 10) {
        ADD_FAILURE() << "a line that the plugin leaves out: " << line;
        continue;
      }
      lines_.push_back(
          {index_in({"broadcast", "reduce", "allgather", "reducescatter"}, cells[0], 4),
           std::stoull(cells[1]), std::stoull(cells[2]),
           index_in({"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"},
                    cells[3], 1),
           index_in({"ll", "ll128", "simple"}, cells[4], 2), std::stoi(cells[5]),
           std::stoi(cells[6]), std::stoi(cells[7])});
    }
  }

  /// Returns the decision for a call on a communicator whose cost table is `candidates`, and the
  /// estimate of the chosen entry.
  [[nodiscard]] Done operator()(nccl::Function function, std::int64_t bytes,
                                const nccl::Communicator& comm,
                                std::vector<nccl::Candidate> candidates) const {
    int channels = 1;
    for (const Line& line : lines_) {
      if (line.function != static_cast<std::size_t>(function)) continue;
      const auto size = static_cast<std::uint64_t>(bytes);
      if (size < line.least || size > line.most) continue;
      if (line.nodes != -1 && line.nodes != comm.nodes) continue;
      if (line.ranks != -1 && line.ranks != comm.ranks) continue;
      nccl::Candidate& cell = candidates[line.algorithm * nccl::kProtocols + line.protocol];
      if (cell.off) continue;
      cell.time_us = 0;
      if (line.channels != -1) channels = line.channels;
      break;
    }
    const nccl::Candidate* best = nullptr;
    for (const nccl::Candidate& one : candidates) {
      if (!one.off && (!best || one.time_us < best->time_us)) best = &one;
    }
    return {std::string(to_string(best->algorithm)), std::string(to_string(best->protocol)),
            channels};
  }

 private:
  struct Line {
    std::size_t function;
    std::uint64_t least, most;
    std::size_t algorithm, protocol;
    int channels, nodes, ranks;
  };
  std::vector<Line> lines_;
};

/// NCCL without a plugin, with the settings of a scenario.
struct Nccl {
  nccl::Communicator communicator;
  nccl::Model model;

  Nccl(const Scenario& scenario, const std::vector<std::pair<std::string, std::string>>& variables)
      : communicator(*scenario.plan.collective(scenario.plan.packs.front()).nccl->communicator),
        model(nccl::tune(communicator, *nccl::read_settings(variables, communicator.version))) {}

  [[nodiscard]] Done choice(const nccl::Operation& operation) const {
    const auto choice = nccl::choose(communicator, model, operation);
    EXPECT_TRUE(choice);
    return {std::string(to_string(choice->algorithm)), std::string(to_string(choice->protocol)),
            choice->channels};
  }
};

std::vector<std::int64_t> sizes() {
  std::vector<std::int64_t> list{0, 1, std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t power = 4; power <= std::int64_t{1} << 40; power *= 2) {
    for (const std::int64_t size : {power - 1, power, power + 1, power / 4 * 5, power / 8 * 11})
      list.push_back(size);
  }
  return list;
}

const std::vector<Where> kClusters{{"dgx1-v100", 2, "edr"}, {"dgx-a100", 2},
                                   {"hgx-h100", 1},         {"hgx-h100", 8, "ndr"},
                                   {"dgx-b200", 2, "ndr"},  {"pcie4-a100", 2, "ethernet-25"}};

/// Expects that all-reduces of gradients use the recommended scenario's choice, and that all other
/// calls use the choice that NCCL makes without the file.
void expect_calls(const Where& where, const std::string& strategy,
                  const std::vector<std::pair<std::string, std::string>>& variables) {
  SCOPED_TRACE(fmt::format("{} × {}, {}", where.nodes, where.machine, strategy));
  const Scenario now = scenario(where, "algorithm: \"nccl\""),
                 recommended = scenario(where, strategy);
  const auto file = file_of(recommended);
  ASSERT_TRUE(file) << file.error();
  const Plugin plugin(file->text);
  const Nccl before(now, {}), after(recommended, variables);
  for (std::size_t f = 0; f < nccl::kFunctions; ++f) {
    const auto function = static_cast<nccl::Function>(f);
    const Nccl& expected = function == nccl::Function::kAllReduce ? after : before;
    for (const std::int64_t bytes : sizes()) {
      const nccl::Operation operation{function, bytes};
      const auto table = nccl::candidates(before.communicator, before.model, operation);
      ASSERT_EQ(plugin(function, bytes, before.communicator, table), expected.choice(operation))
          << nccl::kFunctionNames[f] << " of " << bytes;
    }
  }
}

TEST(NcclTunerFile, LimitsTheChannelsOfAllReducesOnly) {
  for (const Where& where : kClusters)
    expect_calls(where, "algorithm: \"nccl\" channels: 2",
                 {{"NCCL_MIN_NCHANNELS", "2"}, {"NCCL_MAX_NCHANNELS", "2"}});
}

TEST(NcclTunerFile, SetsTheRecommendedAlgorithmForAllReducesOnly) {
  for (const Where& where : kClusters) {
    expect_calls(
        where,
        "algorithm: \"nccl\" nccl { set: \"NCCL_ALGO=allreduce:ring\" set: \"NCCL_PROTO=Simple\" }",
        {{"NCCL_ALGO", "allreduce:ring"}, {"NCCL_PROTO", "Simple"}});
  }
}

/// The file replaces the settings of the scenario. So calls other than the gradients' all-reduces
/// get NCCL's default choice, whatever the scenario sets.
TEST(NcclTunerFile, OtherCollectivesKeepNcclsDefaultChoice) {
  const Where where{"dgx-a100", 2};
  const Nccl own(scenario(where, "algorithm: \"nccl\""), {});
  for (const char* strategy :
       {"algorithm: \"nccl\" channels: 1", "algorithm: \"nccl\" nccl { set: \"NCCL_PROTO=LL\" }"}) {
    const auto file = file_of(scenario(where, strategy));
    ASSERT_TRUE(file) << file.error();
    const Plugin plugin(file->text);
    for (const std::int64_t bytes : sizes()) {
      const nccl::Operation operation{nccl::Function::kBroadcast, bytes};
      const auto table = nccl::candidates(own.communicator, own.model, operation);
      ASSERT_EQ(plugin(operation.function, bytes, own.communicator, table), own.choice(operation))
          << bytes;
    }
  }
}

/// NVLS, PAT and in-network reduction do not support all types and operations. A call that the
/// first matching line does not support uses the next line.
TEST(NcclTunerFile, HasALineForCallsThatTheFirstLineDoesNotSupport) {
  for (const Where& where : kClusters) {
    const Scenario now = scenario(where, "algorithm: \"nccl\""),
                   recommended = scenario(
                       where, "algorithm: \"nccl\" nccl { set: \"NCCL_MAX_NCHANNELS=64\" }");
    const auto file = file_of(recommended);
    ASSERT_TRUE(file) << file.error();
    const Plugin plugin(file->text);
    const Nccl nccl(now, {});
    for (std::size_t f = 0; f < nccl::kFunctions; ++f) {
      const auto function = static_cast<nccl::Function>(f);
      for (const Reduction reduction : {Reduction::kMean, Reduction::kProduct}) {
        for (const std::int64_t bytes : sizes()) {
          const nccl::Operation operation{function, bytes, nccl::ElementType::kFloat32, reduction};
          const auto table = nccl::candidates(nccl.communicator, nccl.model, operation);
          const Done done = plugin(function, bytes, nccl.communicator, table),
                     own = nccl.choice(operation);
          EXPECT_TRUE(done.channels > 1 || own.channels == 1)
              << where.machine << ' ' << nccl::kFunctionNames[f] << " of " << bytes << ": " << done
              << ", not " << own;
        }
      }
    }
  }
}

/// A communicator that is not in the scenario must not be throttled, and must not get the choice
/// that is recommended for the gradients.
TEST(NcclTunerFile, DoesNotLimitOtherCommunicators) {
  const Where where{"dgx-a100", 2};
  const Scenario now = scenario(where, "algorithm: \"nccl\""),
                 recommended = scenario(where, "algorithm: \"nccl\" channels: 2");
  const auto file = file_of(recommended);
  ASSERT_TRUE(file) << file.error();
  const Plugin plugin(file->text);
  const Nccl other(scenario({"dgx-a100", 4}, "algorithm: \"nccl\""), {}), nccl(now, {});
  for (std::size_t f = 0; f < nccl::kFunctions; ++f) {
    const nccl::Operation operation{static_cast<nccl::Function>(f), 1 << 28};
    const auto table = nccl::candidates(other.communicator, other.model, operation);
    EXPECT_EQ(plugin(operation.function, operation.bytes, other.communicator, table).channels,
              nccl.choice(operation).channels);
  }
}

TEST(NcclTunerFile, HasLinesForTheCommunicatorsOfTheScenario) {
  const Where where{"dgx-a100", 2};
  const std::string groups =
      "communicator { name: \"tensor\" size: 8 exchange { bytes: 1000000 per_forward: 4 } }\n";
  const Scenario now = scenario(where, "algorithm: \"nccl\"", groups),
                 recommended = scenario(
                     where, "algorithm: \"nccl\" nccl { set: \"NCCL_ALGO=allreduce:ring\" }",
                     groups);
  const auto file = file_of(recommended);
  ASSERT_TRUE(file) << file.error();
  const Nccl inside(scenario({"dgx-a100", 1}, "algorithm: \"nccl\""), {});
  const Plugin plugin(file->text);
  for (std::size_t f = 0; f < nccl::kFunctions - 1; ++f) {
    for (const std::int64_t bytes : sizes()) {
      const nccl::Operation operation{static_cast<nccl::Function>(f), bytes};
      const auto table = nccl::candidates(inside.communicator, inside.model, operation);
      ASSERT_EQ(plugin(operation.function, bytes, inside.communicator, table),
                inside.choice(operation))
          << nccl::kFunctionNames[f] << " of " << bytes;
    }
  }
}

/// If NCCL is simulated as rings, the file has lines for these rings. Other collectives have NCCL's
/// own choice if NCCL's model knows the machine.
TEST(NcclTunerFile, KeepsNcclsChoiceForOtherCollectivesIfNcclIsSimulatedAsRings) {
  const Where where{"dgx-a100", 2};
  const Scenario now = scenario(where, "algorithm: \"nccl\""),
                 rings = scenario(where, "algorithm: \"nccl\" channels: 3", "run { nccl: RINGS }");
  const auto file = file_of(rings);
  ASSERT_TRUE(file) << file.error();
  const Plugin plugin(file->text);
  const Nccl nccl(now, {});
  for (std::size_t f = 0; f < nccl::kFunctions; ++f) {
    for (const std::int64_t bytes : sizes()) {
      const nccl::Operation operation{static_cast<nccl::Function>(f), bytes};
      const auto table = nccl::candidates(nccl.communicator, nccl.model, operation);
      const Done expected = operation.function == nccl::Function::kAllReduce
                                ? Done{"Ring", "Simple", 3}
                                : nccl.choice(operation);
      ASSERT_EQ(plugin(operation.function, bytes, nccl.communicator, table), expected) << bytes;
    }
  }
}

TEST(NcclTunerFile, IsNotWrittenIfNcclCannotReadItOrItWouldSlowOtherCalls) {
  const Where where{"dgx-a100", 2};
  const Scenario old =
      scenario(where, "algorithm: \"nccl\" channels: 2 nccl { version: \"2.21.5\" }");
  const auto file = file_of(old);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error(), HasSubstr("NCCL 2.21.5 cannot load"));
  const Scenario unknown = scenario(where, "algorithm: \"nccl\" channels: 2 staging: VIA_HOST");
  const auto other = file_of(unknown);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error(), HasSubstr("times does not include staging"));
}

TEST(NcclTunerFile, NamesTheNumberOfChannelsThatNcclHasToCreate) {
  const Where where{"pcie4-a100", 2, "ethernet-25"};
  const Scenario now = scenario(where, "algorithm: \"nccl\""),
                 recommended = scenario(where, "algorithm: \"nccl\" channels: 32");
  const auto file = file_of(recommended);
  ASSERT_TRUE(file) << file.error();
  EXPECT_THAT(file->remark, HasSubstr("NCCL_MIN_NCHANNELS=32"));
}

}  // namespace
}  // namespace tutti::core
