#include "core/custom/mscclpp/export_layout.h"

#include <algorithm>

namespace tutti::core::custom {

ExportLayout::ExportLayout(const Schedule& schedule, std::int32_t per_node)
    : schedule_(schedule), per_node_(per_node) {
  find_uses();
  find_landings();
  find_channels();
  find_waits();
}

void ExportLayout::find_uses() {
  for (auto& uses : uses_) uses.resize(ranks());
  for_each_step([this](Rank rank, Lane lane, std::int64_t i, const Step& step) {
    const auto use = [&](Range range) {
      if (range.count > 0)
        uses_[range.buffer == Buffer::kScratch][rank].push_back(
            {range.offset, range.end(), lane, i});
    };
    if (step.kind == StepKind::kNop) return;
    use(step.target);
    if (step.kind != StepKind::kReduce) return use(step.source);
    for (std::int32_t k = 0; k < step.inputs; ++k)
      use({step.source.buffer, step.source.offset + k * step.stride, step.target.count});
  });
  for (auto& of : uses_) {
    for (auto& uses : of)
      std::sort(uses.begin(), uses.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  }
}

bool ExportLayout::first_use(Rank rank, Lane lane, std::int64_t index, const Range& range) {
  for (const RangeUse& use : uses_[range.buffer == Buffer::kScratch][rank]) {
    if (use.begin >= range.end()) break;
    if (use.end > range.offset && (use.lane != lane || use.index < index)) return false;
  }
  return true;
}

void ExportLayout::find_landings() {
  scratch.resize(ranks());
  for (Rank rank = 0; rank < ranks(); ++rank) scratch[rank] = schedule_.scratch(rank);
  for_each_step([this](Rank rank, Lane lane, std::int64_t i, const Step& step) {
    if (sends(step.kind) && step.kind != StepKind::kMulticast)
      connect({rank, lane}, {step.to.rank(rank, ranks()), step.to.lane});
    if (!receives(step.kind)) return;
    if (step.kind == StepKind::kReceiveAny) return;  // refused below
    const LaneEnd from{step.from.rank(rank, ranks()), step.from.lane};
    connect(from, {rank, lane});
    Landing landing;
    const bool reduces = reduces_received(step.kind);
    landing.range = step.target;
    if (reduces || !first_use(rank, lane, i, step.target)) {
      landing.in_scratch = true;
      landing.range = {Buffer::kScratch, scratch[rank],
                       reduces ? step.source.count : step.target.count};
      scratch[rank] += landing.range.count;
    }
    landings[{from, {rank, lane}}].push_back(landing);
  });
}

void ExportLayout::connect(const LaneEnd& a, const LaneEnd& b) {
  connections_.insert({std::min(a, b), std::max(a, b)});
  receivers.insert({a, b});
}

void ExportLayout::find_channels() {
  std::vector<int> memory(ranks()), ports(ranks());
  for (const auto& [a, b] : connections_) {
    auto& next = port(a.rank, b.rank) ? ports : memory;
    channels[{a, b}] = next[a.rank]++;
    channels[{b, a}] = next[b.rank]++;
  }
}

void ExportLayout::find_waits() {
  std::map<std::pair<LaneEnd, Lane>, std::int64_t> waited;  // number of awaited steps
  std::vector<int> next(ranks());
  std::map<std::pair<LaneEnd, Lane>, int> semaphores;
  for_each_step([&](Rank rank, Lane lane, std::int64_t i, const Step& step) {
    if (step.wait.lane < 0 || step.wait.count == 0) return;
    const LaneEnd by{rank, lane};
    std::int64_t& known = waited[{by, step.wait.lane}];
    if (known >= step.wait.count) return;
    known = step.wait.count;
    const auto [semaphore, is_new] = semaphores.try_emplace({by, step.wait.lane}, 0);
    if (is_new) semaphore->second = next[rank]++;
    acquires[{by, i}] = semaphore->second;
    releases[{{rank, step.wait.lane}, step.wait.count - 1}].push_back(semaphore->second);
  });
  semaphore_counts = std::move(next);
}

}  // namespace tutti::core::custom
