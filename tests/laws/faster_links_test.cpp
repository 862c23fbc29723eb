// Faster links never make a collective slower that NCCL executes in the same way. NCCL may choose
// another algorithm, protocol or number of channels on faster links, because its own estimate of
// the new choice is lower. Its estimate is sometimes wrong, so the new choice may be slower in
// reality and in the prediction. NCCL's estimate of an all-reduce never rises with faster network
// cards.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/nccl/collective_time.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/system_of_machine.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
namespace nccl = core::nccl;

/// A change that makes a system faster.
struct Faster {
  const char* name;
  std::function<void(nccl::System&)> apply;
};

const std::vector<Faster>& changes() {
  static const std::vector<Faster> all{
      {"network cards", [](nccl::System& s) { s.nic_gb_per_s *= 2; }},
      {"NVLink", [](nccl::System& s) { s.nvlinks *= 2; }},
      {"PCIe",
       [](nccl::System& s) {
         s.pcie_gb_per_s *= 2;
         s.to_host_gb_per_s *= 2;
       }},
      {"latency", [](nccl::System& s) { s.more_latency_us /= 2; }},
      {"all", [](nccl::System& s) {
         s.nic_gb_per_s *= 2;
         s.nvlinks *= 2;
         s.pcie_gb_per_s *= 2;
         s.to_host_gb_per_s *= 2;
         s.more_latency_us /= 2;
       }}};
  return all;
}

/// A shipped machine on some nodes, as NCCL sees it.
struct Known {
  std::string name;  ///< for messages: "2 x hgx-h100"
  std::shared_ptr<const core::Machine> machine;
  nccl::System system;
  nccl::Settings settings;

  /// Returns the machine with its communicator; an error if NCCL cannot use the links of `links`.
  [[nodiscard]] auto on(const nccl::System& links) const {
    return nccl::on_machines(*machine, links, std::nullopt, "network", settings,
                             nccl::kDefaultVersion);
  }
};

/// Returns the shipped machines with GPUs, each on 1, 2 and 16 nodes.
std::vector<Known> shipped() {
  std::vector<Known> all;
  for (const std::string& name : test::shipped_library().names(core::Library::Kind::kMachine)) {
    const auto machine = test::shipped_machine(name);
    if (machine->gpus().empty()) continue;
    for (const int nodes : {1, 2, 16}) {
      auto system = nccl::system_of(*machine, nodes, std::nullopt, std::nullopt);
      if (!system || system->ranks() < 2) continue;
      system->more_latency_us = nodes > 1 ? 20 : 0;
      Known& known = all.emplace_back(Known{fmt::format("{} x {}", nodes, name), machine,
                                            *std::move(system), nccl::Settings()});
      nccl::see_network(known.system, nccl::kDefaultVersion, known.settings);
    }
  }
  return all;
}

TEST(FasterLinks, NeverSlowACollectiveThatNcclExecutesInTheSameWay) {
  const auto parameters = nccl::Parameters::load(test::shipped_library().folder());
  ASSERT_TRUE(parameters);
  std::int64_t compared = 0;
  for (const Known& base : shipped()) {
    const auto at = base.on(base.system);
    if (!at) continue;
    const auto tuned = nccl::tune(at->communicator, base.settings);
    for (const Faster& change : changes()) {
      nccl::System faster = at->system;
      change.apply(faster);
      for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 32; bytes *= 8) {
        const std::string what =
            fmt::format("{}, {} bytes, faster {}", base.name, bytes, change.name);
        for (const auto function : {nccl::Function::kAllReduce, nccl::Function::kReduceScatter,
                                    nccl::Function::kAllGather, nccl::Function::kBroadcast}) {
          const nccl::Operation operation{function, bytes};
          const auto choice = nccl::choose(at->communicator, tuned, operation);
          if (!choice) continue;
          const auto us = [&](const nccl::System& system) {
            return nccl::predict(system, at->communicator, operation, *choice, *parameters).us();
          };
          EXPECT_LE(us(faster), us(at->system) * (1 + 1e-9)) << what;
          ++compared;
        }
        const auto sends = [&](const nccl::System& system) {
          return nccl::predict_sends(system, at->communicator, CollectiveKind::kAllToAll, bytes,
                                     *parameters)
              .us();
        };
        EXPECT_LE(sends(faster), sends(at->system) * (1 + 1e-9)) << what;
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST(FasterLinks, FasterCardsNeverRaiseTheEstimateOfNcclsChoice) {
  std::int64_t changed = 0;
  for (const Known& base : shipped()) {
    const auto slow = base.on(base.system);
    if (!slow) continue;
    nccl::System cards = base.system;
    cards.nic_gb_per_s *= 2;
    const auto fast = base.on(cards);
    ASSERT_TRUE(fast) << fast.error().message();
    const auto before = nccl::tune(slow->communicator, base.settings);
    const auto after = nccl::tune(fast->communicator, base.settings);
    for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 32; bytes *= 2) {
      const nccl::Operation operation{nccl::Function::kAllReduce, bytes};
      const auto old = nccl::choose(slow->communicator, before, operation);
      const auto now = nccl::choose(fast->communicator, after, operation);
      if (!old || !now) continue;
      EXPECT_LE(now->estimate_us, old->estimate_us * 1.000001F)
          << base.name << ", " << bytes << " bytes";
      changed += old->algorithm != now->algorithm || old->protocol != now->protocol ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 0) << "NCCL makes other choices on faster networks";
}

}  // namespace
}  // namespace tutti
