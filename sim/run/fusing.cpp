#include "sim/run/fusing.h"

#include "core/base/format.h"
#include "core/lowering/fusion.h"
#include "core/scenario/nccl_model.h"

namespace tutti::sim {

std::vector<core::Collective> Fusing::largest() const {
  std::map<core::DataType, std::int64_t> elements;
  for (const core::Pack& pack : scenario_.plan.packs) {
    const core::Collective& collective = scenario_.plan.collective(pack);
    if (pack.phase == core::PackPhase::kGradients) elements[collective.type] += collective.elements;
  }
  std::vector<core::Collective> all;
  for (const auto& [type, count] : elements) all.push_back(make(type, count));
  return all;
}

core::Collective Fusing::make(core::DataType type, std::int64_t elements) const {
  core::Collective made =
      core::make_collective(*scenario_.cluster, scenario_.strategy, type, elements, 0);
  core::assign_time(scenario_.plan.collective_times.get(), made);
  return made;
}

const std::shared_ptr<const FusedPacks>& Fusing::of(
    const std::shared_ptr<const core::GateBatch>& batch) {
  std::shared_ptr<const FusedPacks>& fused = fused_[batch.get()];
  if (!fused) fused = fuse(batch);
  return fused;
}

std::shared_ptr<const FusedPacks> Fusing::fuse(
    const std::shared_ptr<const core::GateBatch>& batch) {
  auto made = std::make_shared<FusedPacks>();
  made->batch = batch;
  const auto of = [&](int p) -> const core::Collective& {
    return scenario_.plan.collective(scenario_.plan.packs[p]);
  };
  std::int64_t elements = 0;
  for (const int p : batch->items) elements += of(p).elements;
  const core::Collective& first = of(batch->items.front());
  if (batch->items.size() == 1) {
    // Use the plan's object of the same collective, because results for a collective are cached
    // under its address.
    made->collective = {std::shared_ptr<const void>(), &first};
  } else {
    auto& known = made_[{first.type, elements}];
    if (!known) known = std::make_shared<const core::Collective>(make(first.type, elements));
    made->collective = known;
    made->copied = made->collective->bytes();
  }
  sizes_[batch->step].push_back(made->collective->bytes());
  for (auto& time : core::nccl_times(*made->collective)) times_.push_back(std::move(time));
  return made;
}

std::vector<std::string> Fusing::notes() const {
  if (sizes_.empty()) return {};
  std::vector<std::string> notes{core::describe_fused(scenario_.plan, sizes_)};
  std::vector<const core::nccl::CollectiveTime*> times;
  for (const auto& time : times_) times.push_back(time.get());
  const core::CollectiveTimes* const known = scenario_.plan.collective_times.get();
  const char* const where = known && known->only_inside_workers() ? " inside workers" : "";
  for (std::string note : {core::nccl_note(times, where), core::capped_note(times)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace tutti::sim
