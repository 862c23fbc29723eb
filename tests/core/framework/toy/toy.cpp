#include "tests/core/framework/toy/toy.h"

#include <fmt/format.h>

#include "core/framework/buckets.h"
#include "core/framework/toy/toy.pb.h"

namespace tutti::test {
namespace {

class ToyFramework final : public core::FrameworkOf<Toy> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "toy"; }
  [[nodiscard]] std::string describe_packs() const override {
    return fmt::format("Toy, {} gradients each", options().gradients_per_pack);
  }

  void lower(const core::LoweringTarget& target, core::Strategy& strategy,
             core::Complaints& complaints) const override {
    core::lower_to_one_stream(strategy);
    if (options().updates_each)
      strategy.update = strategy.requested_update.value_or(core::Update::kPerPack);
    if (target.cluster.workers() > options().most_workers.value_or(target.cluster.workers()))
      complaints.complain_at("strategy.toy.most_workers", "toy: {} workers exceed the limit of {}",
                             target.cluster.workers(), *options().most_workers);
  }

  [[nodiscard]] bool pack(core::PackMaker& maker) const override {
    const std::vector<int> order = core::as_they_become_ready(maker.workload());
    std::vector<std::vector<int>> buckets;
    for (int i = 0; i < static_cast<int>(order.size()); ++i) {
      if (i % options().gradients_per_pack == 0) buckets.emplace_back();
      buckets.back().push_back(i);
    }
    for (core::Bucket& bucket : core::side_by_side(order, buckets, maker.workload()))
      maker.add(std::move(bucket));
    maker.plan().notes.add("toy.by-number", "the toy packs by number");
    return true;
  }

  [[nodiscard]] std::optional<std::vector<core::TriedValues>> tried_values(
      const core::Workload&) const override {
    return std::vector<core::TriedValues>{{"strategy.toy.gradients_per_pack", {"1", "2", "4"}}};
  }
};

std::shared_ptr<const core::Framework> read_toy(const core::StrategyText& text) {
  const auto& message = dynamic_cast<const proto::Toy&>(*text.own);
  Toy toy;
  if (!message.has_gradients_per_pack())
    text.fields.complain(message, "toy: gradients_per_pack is missing; set it to at least 1");
  toy.gradients_per_pack =
      static_cast<int>(text.fields.integer(message, "gradients_per_pack", "toy", 1, 1'000)
                           .value_or(toy.gradients_per_pack));
  toy.updates_each = message.updates() == proto::Toy::EACH;
  if (message.has_most_workers()) toy.most_workers = message.most_workers();
  core::refuse_merging(text, "toy");
  return std::make_shared<ToyFramework>(toy);
}

std::vector<core::ProgramSetting> toy_settings(const core::Planned& planned) {
  const auto* own = core::options_of<Toy>(planned.strategy);
  if (!own) return {};
  return {{"Toy", core::ProgramSetting::Language::kShell,
           fmt::format("toy --per-pack={}\n", own->gradients_per_pack), true, ""}};
}

}  // namespace

core::FrameworkKind toy_kind() {
  const auto schema = []() -> const google::protobuf::Message& {
    return proto::Toy::default_instance();
  };
  return {"toy", read_toy, toy_settings, {"strategy.toy.gradients_per_pack"}, schema};
}

}  // namespace tutti::test
