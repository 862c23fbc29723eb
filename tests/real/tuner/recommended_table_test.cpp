// Tables that `tutti tune` writes, used by libnccl-tuner-tutti.so with NCCL's own estimates in the
// cost table. The choice must be the recommended one, at every size and in every release.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "core/advice/nccl_tuner_table.h"
#include "core/nccl/channels.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/tuning/choices_by_size.h"
#include "tests/real/tuner/nccl_host.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::test {
namespace {

namespace nccl = core::nccl;

struct Where {
  std::string machine;
  int nodes = 1;
  std::string link = "hdr";
};

core::Scenario scenario(const Where& where, const std::string& strategy) {
  auto read = core::read_scenario(
      fmt::format("cluster {{ workers {{ machine: \"{}\" count: {} }} "
                  "network {{ kind: ONE_SWITCH link: \"{}\" }} }}\n"
                  "workload {{ variable {{ name: \"a\" shape: [1000, 1000] }} variable {{ name: "
                  "\"b\" shape: 50000000 }} forward_ms: 1 backward_ms: 2 }}\nstrategy {{ {} }}\n",
                  where.machine, where.nodes, where.link, strategy),
      "f.textproto", shipped_library());
  if (!read) throw std::runtime_error(read.error().message());
  return std::move(*read);
}

std::vector<std::int64_t> sizes() {
  std::vector<std::int64_t> list{0, 1, std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t power = 2; power <= std::int64_t{1} << 44; power *= 2) {
    for (const std::int64_t size : {power - 1, power, power + 1, power / 4 * 5, power / 8 * 11})
      list.push_back(size);
  }
  return list;
}

/// NCCL in a scenario, with the variables that the table replaces.
struct Nccl {
  nccl::Communicator communicator;
  nccl::Model model;

  Nccl(const core::Scenario& scenario,
       const std::vector<std::pair<std::string, std::string>>& variables)
      : communicator(*scenario.plan.collective(scenario.plan.packs.front()).nccl->communicator) {
    auto settings = *nccl::read_settings(variables, communicator.version);
    settings.tuner = scenario.nccl.settings.tuner;
    nccl::count_channels(communicator, settings);
    model = nccl::tune(communicator, settings);
  }
};

Chosen chosen(const nccl::Choice& choice) {
  return {static_cast<int>(choice.algorithm), static_cast<int>(choice.protocol), choice.channels};
}

class RecommendedTable : public testing::TestWithParam<Where> {
 protected:
  ~RecommendedTable() override { unsetenv("TUTTI_TUNER_TABLE"); }

  /// Checks all calls under `strategy`: all-reduces must use the choice that `variables` give, and
  /// all other calls NCCL's own choice.
  void expect_calls(const std::string& strategy,
                    const std::vector<std::pair<std::string, std::string>>& variables) {
    for (const Release& release : kReleases) {
      std::string set;
      for (const auto& [name, value] : variables) {
        if (!name.ends_with("NCHANNELS")) set += fmt::format("set: \"{}={}\" ", name, value);
      }
      const core::Scenario recommended = scenario(
          GetParam(), strategy + fmt::format(" nccl {{ version: \"{}\" {} }}", release.name, set));
      const auto table =
          core::nccl_tuner_table(recommended, shipped_library(), core::tuner_table::Reader::kTutti);
      ASSERT_TRUE(table) << table.error();
      const test::TemporaryFolder folder;
      const std::string path =
          folder.write("recommended.csv", core::tuner_table::write_table(table->table));
      setenv("TUTTI_TUNER_TABLE", path.c_str(), 1);
      NcclHost host(TUTTI_TUNER_PLUGIN, release);
      const Nccl own(recommended, {}), all_reduce(recommended, variables);
      const auto ranks = static_cast<std::size_t>(own.communicator.ranks);
      const auto nodes = static_cast<std::size_t>(own.communicator.nodes);
      void* const context = host.open(ranks, nodes);
      for (std::size_t f = 0; f < nccl::kFunctions; ++f) {
        const auto function = static_cast<nccl::Function>(f);
        const Nccl& expected = function == nccl::Function::kAllReduce ? all_reduce : own;
        for (const std::int64_t bytes : sizes()) {
          const nccl::Operation operation{function, bytes};
          Asked requested{static_cast<int>(f), static_cast<std::size_t>(bytes)};
          for (const nccl::Candidate& one :
               nccl::candidates(own.communicator, own.model, operation))
            requested.costs.push_back(one.off ? -1.0F : one.time_us);
          requested.costs.resize(static_cast<std::size_t>(release.algorithms) * kProtocols);
          requested.nvls = own.communicator.nvls;
          const auto choice = nccl::choose(expected.communicator, expected.model, operation);
          ASSERT_TRUE(choice);
          ASSERT_EQ(host.choose(context, requested), chosen(*choice))
              << GetParam().machine << ", NCCL " << release.name << ", " << nccl::kFunctionNames[f]
              << " of " << bytes;
        }
      }
      host.close(context);
      // A communicator that is not in the scenario keeps NCCL's choice.
      void* const other = host.open(ranks + 1, nodes);
      Asked requested{4, 1 << 20};
      requested.costs.assign(static_cast<std::size_t>(release.algorithms) * kProtocols, 7.0F);
      EXPECT_EQ(host.choose(other, requested), cheapest(requested.costs));
      host.close(other);
    }
  }
};

TEST_P(RecommendedTable, PluginFollowsItForFewerChannels) {
  expect_calls("algorithm: \"nccl\" channels: 2",
               {{"NCCL_MIN_NCHANNELS", "2"}, {"NCCL_MAX_NCHANNELS", "2"}});
}

TEST_P(RecommendedTable, PluginFollowsItForAnotherAlgorithm) {
  expect_calls("algorithm: \"nccl\"", {{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "Simple"}});
}

/// A table that repeats NCCL's own choices changes nothing.
TEST_P(RecommendedTable, PluginFollowsItForNcclsDefaultChoices) {
  expect_calls("algorithm: \"nccl\"", {});
}

INSTANTIATE_TEST_SUITE_P(Machines, RecommendedTable,
                         testing::Values(Where{"dgx1-v100", 2, "edr"}, Where{"dgx-a100", 2},
                                         Where{"hgx-h100", 1}, Where{"hgx-h100", 8, "ndr"},
                                         Where{"ec2-p5-48xlarge", 4, "efa-v2"},
                                         Where{"pcie4-a100", 2, "ethernet-25"}),
                         [](const auto& tested) {
                           std::string name =
                               fmt::format("{}x{}", tested.param.nodes, tested.param.machine);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tutti::test
