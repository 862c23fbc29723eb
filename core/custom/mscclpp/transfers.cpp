#include "core/custom/mscclpp/transfers.h"

#include <utility>
#include <vector>

namespace tutti::core::custom {

void Transfers::put_op(Block& block) {
  for (std::size_t i = 0; i < op_->target.size(); ++i) {
    const Range source = range(op_->source[i], block.rank);
    const Rank rank = op_->target[i].rank;
    const Range target = range(op_->target[i], block.rank);
    InstructionId arrival;
    Proxy* proxy = op_->port ? &gpu(block.rank).proxies[op_->channels[i]] : nullptr;
    if (proxy != nullptr && proxy->used) {
      arrival = write_by_proxy(block, *proxy, source, rank, target);
    } else {
      arrival = write(block, source, rank, target, op_->fused && i == 0);
    }
    if (op_->packets_out) note_packets(rank, target, arrival);
    if (op_->signals) post_signal(block, true, op_->channels[i], arrival);
    if (op_->flushes) flush(block, op_->channels[i]);
  }
}

void Transfers::request(Block& block, const PlanPlace& place) {
  const int from = server(block.lane, place.rank);
  put(block, send(from, {Buffer::kData, 0, 0}));
  put(from, receive(block.lane, {Buffer::kData, 0, 0}, at_));
  Instruction reply = send(block.lane, range(place, block.rank));
  reply.at = at_;
  // The other rank sends the data only after all writes to its memory that the reader knows of.
  for (const auto& [inbox, count] : block.knows.known) {
    if (lane(inbox).rank == place.rank) reply.after.push_back({inbox, count - 1});
  }
  put(from, std::move(reply));
}

void Transfers::receive_reply(Block& block, Rank rank, StepKind kind, const Range& own,
                              const Range& target) {
  Instruction step = receive(server(block.lane, rank), target, at_);
  step.kind = kind;
  step.source = own;
  put(block, std::move(step));
}

void Transfers::get(Block& block) {
  for (const PlanPlace& place : op_->source) request(block, place);
  for (std::size_t i = 0; i < op_->source.size(); ++i) {
    const Range target = range(op_->target[i], block.rank);
    receive_reply(block, op_->source[i].rank, StepKind::kReceive, target, target);
  }
}

InstructionId Transfers::copy(Block& block, const Range& source, const Range& target) {
  if (source == target) return here(block);
  Instruction step;
  step.kind = StepKind::kCopy;
  step.source = source;
  step.target = target;
  return put(block, std::move(step));
}

void Transfers::copy_op(Block& block) {
  const Range target = range(op_->target[0], block.rank);
  const InstructionId by = copy(block, range(op_->source[0], block.rank), target);
  if (op_->packets_out) note_packets(block.rank, target, by);
}

void Transfers::reduce(Block& block) {
  const Range target = range(op_->target[0], block.rank);
  std::vector<Range> inputs;
  std::size_t local = 0;
  while (local < op_->source.size() && op_->source[local].rank < 0)
    inputs.push_back(range(op_->source[local++], block.rank));
  for (std::size_t i = local; i < op_->source.size(); ++i) request(block, op_->source[i]);
  if (inputs.size() > 1) {
    Instruction step;
    step.kind = StepKind::kReduce;
    step.inputs = inputs;
    step.source = inputs.front();
    step.target = target;
    put(block, std::move(step));
  } else if (op_->source.size() == local) {
    copy(block, inputs.front(), target);
  }
  Range own = inputs.size() > 1 ? target : inputs.front();
  for (std::size_t i = local; i < op_->source.size(); ++i) {
    receive_reply(block, op_->source[i].rank, StepKind::kReceiveReduce, own, target);
    own = target;
  }
  std::size_t next = 1;
  if (op_->packets_out) {  // copies as packets, which local readers may wait for
    while (next < op_->target.size() && op_->target[next].rank < 0) {
      const Range kept = range(op_->target[next++], block.rank);
      note_packets(block.rank, kept, copy(block, target, kept));
    }
  }
  for (std::size_t i = next; i < op_->target.size(); ++i) {
    const Range there = range(op_->target[i], block.rank);
    const InstructionId arrival = write(block, target, op_->target[i].rank, there,
                                        i == next && op_->target.size() == next + 1);
    if (op_->packets_out) note_packets(op_->target[i].rank, there, arrival);
  }
}

void Transfers::store(Block& block, const Range& source, const PlanPlace& place) {
  const PlanSwitch& used = plan_.gpus[block.rank].switches[place.channel];
  const auto at = [&](Rank rank) {
    PlanPlace there = place;
    there.rank = rank;
    return range(there, block.rank);
  };
  const Range own = at(block.rank);
  const InstructionId kept = copy(block, source, own);
  if (op_->packets_out) note_packets(block.rank, own, kept);
  if (used.group.count == 1) return;
  Instruction step;
  step.kind = StepKind::kMulticast;
  step.source = step.target = own;
  step.group = used.group;
  for (std::int32_t i = 0; i < used.group.count; ++i) {
    const Rank rank = used.group.at(i);
    if (rank != block.rank) step.lane = multicast_inbox(block.lane, rank);
  }
  put(block, std::move(step));
  for (std::int32_t i = 0; i < used.group.count; ++i) {
    const Rank rank = used.group.at(i);
    if (rank == block.rank) continue;
    const int to = multicast_inbox(block.lane, rank);
    const InstructionId arrival = put(to, receive(block.lane, at(rank), at_));
    block.knows.known[to] = arrival.index + 1;
    block.snapshot = nullptr;
    if (op_->packets_out) note_packets(rank, at(rank), arrival);
  }
}

void Transfers::reduce_store(Block& block) {
  const PlanPlace& from = op_->source[0];
  const PlanPlace& to = op_->target[0];
  const PlanSwitch& used = plan_.gpus[block.rank].switches[from.channel];
  PlanPlace own = to;
  own.rank = block.rank;
  Instruction step;
  step.kind = StepKind::kSwitchReduce;
  PlanPlace read_at = from;
  read_at.rank = block.rank;
  step.source = range(read_at, block.rank);
  step.target = range(own, block.rank);
  step.group = used.group;
  put(block, std::move(step));
  store(block, range(own, block.rank), to);
}

}  // namespace tutti::core::custom
