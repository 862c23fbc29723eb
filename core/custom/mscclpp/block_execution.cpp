#include "core/custom/mscclpp/block_execution.h"

#include <algorithm>
#include <utility>

namespace tutti::core::custom {

InstructionId BlockExecution::put(Block& block, Instruction instruction) {
  instruction.after.insert(instruction.after.end(), block.pending.begin(), block.pending.end());
  block.pending.clear();
  instruction.at = at_;
  return put(block.lane, std::move(instruction));
}

InstructionId BlockExecution::here(Block& block) {
  if (!block.pending.empty()) put(block, {});
  return {block.lane, static_cast<int>(lane(block.lane).steps.size()) - 1};
}

void BlockExecution::advance(Block& block) {
  block.part_done = 0;
  const PlanOp& op = (*block.ops)[block.at];
  if (op.verb != PlanVerb::kPipeline) {
    ++block.at;
  } else if (++block.inner >= op.body.size()) {
    block.inner = 0;
    ++block.round;
  }
}

void BlockExecution::learn(Block& block, const Knowledge& more) {
  block.snapshot = nullptr;
  block.knows.add(more);
  for (const auto& [inbox, count] : block.knows.known) {
    if (lane(inbox).rank != block.rank) continue;
    int& landed = block.knows.landed[inbox];
    if (landed >= count) continue;
    block.pending.push_back({inbox, count - 1});
    landed = count;
  }
}

std::shared_ptr<const Knowledge> BlockExecution::knowledge(Block& block) {
  if (!block.snapshot) block.snapshot = std::make_shared<Knowledge>(block.knows);
  return block.snapshot;
}

Range BlockExecution::range(const PlanPlace& place, Rank own) const {
  const Rank rank = place.rank >= 0 ? place.rank : own;
  Range range;
  std::int64_t first = place.index;
  std::int64_t shift = 0;
  const std::int64_t block = plan_.chunks / ranks();
  if (place.memory == PlanMemory::kScratch) {
    range.buffer = Buffer::kScratch;
  } else if (place.memory == PlanMemory::kInput) {
    shift = plan_.in_place ? 0 : shift_;
    if (plan_.kind == CollectiveKind::kAllGather) first += rank * block;
  } else if (plan_.kind == CollectiveKind::kReduceScatter) {
    first += rank * block;
  }
  const std::int64_t elements = place.size * chunk_;
  const std::int64_t begin = EvenCut{elements, op_->parts}.offset(op_->part);
  const std::int64_t size = EvenCut{elements, op_->parts}.offset(op_->part + 1) - begin;
  const std::int64_t done = std::min(size, round_offset_);
  range.offset = first * chunk_ + shift + begin + done;
  range.count = std::min(size - done, round_size_);
  return range;
}

InstructionId BlockExecution::write(Block& block, const Range& source, Rank rank,
                                    const Range& target, bool fused) {
  const int to = inbox(block.lane, rank);
  Instruction step = send(to, source);
  step.fused = fused;
  put(block, std::move(step));
  const InstructionId arrival = put(to, receive(block.lane, target, at_));
  if (target.count > 0) {
    block.knows.known[to] = arrival.index + 1;
    block.snapshot = nullptr;
  }
  return arrival;
}

InstructionId BlockExecution::write_by_proxy(Block& block, Proxy& proxy, const Range& source,
                                             Rank rank, const Range& target) {
  if (proxy.lane < 0) proxy.lane = new_lane(PlanLane::Kind::kProxy, block.rank, 0);
  const InstructionId requested = here(block);
  const int to = inbox(proxy.lane, rank);
  Instruction step = send(to, source);
  if (requested.index >= 0) step.after.push_back(requested);
  step.at = at_;
  put(proxy.lane, std::move(step));
  proxy.knows.add(block.knows);
  const InstructionId arrival = put(to, receive(proxy.lane, target, at_));
  if (target.count > 0) proxy.knows.known[to] = arrival.index + 1;
  return arrival;
}

void BlockExecution::note_packets(Rank rank, const Range& range, InstructionId by) {
  if (range.count == 0) return;
  Gpu& at = gpu(rank);
  at.packets[range.buffer == Buffer::kScratch].insert({range.offset, {range, by}});
  at.longest_packet = std::max(at.longest_packet, range.count);
}

std::vector<InstructionId> BlockExecution::packets_in(Rank rank, const Range& range,
                                                      bool& covered) {
  Gpu& at = gpu(rank);
  const auto& all = at.packets[range.buffer == Buffer::kScratch];
  std::vector<InstructionId> by;
  std::int64_t end = range.offset;
  covered = true;
  for (auto i = all.lower_bound(range.offset - at.longest_packet);
       i != all.end() && i->first < range.end(); ++i) {
    if (i->second.range.end() <= range.offset) continue;
    if (i->first > end) covered = false;
    end = std::max(end, i->second.range.end());
    by.push_back(i->second.by);
  }
  covered = covered && end >= range.end();
  return by;
}

}  // namespace tutti::core::custom
