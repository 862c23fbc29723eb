#include "core/custom/mscclpp/synchronization.h"

#include <algorithm>
#include <utility>

namespace tutti::core::custom {

void Synchronization::post_signal(Block& block, bool port, int channel, InstructionId arrival) {
  const PlanGpu& from = plan_.gpus[block.rank];
  const PlanChannel& end = (port ? from.port_channels : from.memory_channels)[channel];
  Event event;
  Proxy* proxy = port ? &gpu(block.rank).proxies[channel] : nullptr;
  if (proxy != nullptr && proxy->used) {
    const Range nothing{Buffer::kData, 0, 0};
    event.at =
        arrival.index >= 0 ? arrival : write_by_proxy(block, *proxy, nothing, end.peer, nothing);
    event.knows = std::make_shared<Knowledge>(proxy->knows);
  } else {
    event.at = signal(block, end.peer);
    event.knows = knowledge(block);
  }
  if (end.other_end < 0) return;  // no rank can wait for the signal
  gpu(end.peer).signals[port ? 1 : 0][end.other_end].push_back(std::move(event));
}

void Synchronization::flush(Block& block, int channel) {
  Proxy& proxy = gpu(block.rank).proxies[channel];
  if (proxy.lane < 0) return;
  block.pending.push_back({proxy.lane, static_cast<int>(lane(proxy.lane).steps.size()) - 1});
  block.knows.add(proxy.knows);
  block.snapshot = nullptr;
}

// A signal directly after a message is a part of this message; any other signal is an empty
// message.
InstructionId Synchronization::signal(Block& block, Rank rank) {
  const int to = inbox(block.lane, rank);
  const auto& steps = lane(block.lane).steps;
  const bool behind_message = block.pending.empty() && !steps.empty() &&
                              steps.back().kind == StepKind::kSend && steps.back().lane == to;
  if (behind_message) return {to, static_cast<int>(lane(to).steps.size()) - 1};
  return write(block, {Buffer::kData, 0, 0}, rank, {Buffer::kData, 0, 0}, false);
}

bool Synchronization::take_packets(Block& block, bool forced) {
  if (!op_->packets_in) return true;
  std::vector<InstructionId> needed;
  std::vector<Range> missing;
  const bool reduces = op_->verb == PlanVerb::kReduce;
  for (std::size_t i = reduces ? 1 : 0; i < op_->source.size(); ++i) {
    bool covered = false;
    const Range from = range(op_->source[i], block.rank);
    const auto by = packets_in(block.rank, from, covered);
    if (!covered) missing.push_back(from);
    needed.insert(needed.end(), by.begin(), by.end());
  }
  if (!missing.empty() && !forced) return false;
  for (const InstructionId& by : needed) {
    if (by.lane != block.lane && by.index >= 0) block.pending.push_back(by);
  }
  for (const Range& from : missing) wait_later(block, 0, from);
  return true;
}

bool Synchronization::wait(Block& block, bool forced) {
  for (; block.part_done < op_->channels.size(); ++block.part_done) {
    auto& signals = gpu(block.rank).signals[op_->port ? 1 : 0][op_->channels[block.part_done]];
    if (signals.empty()) {
      if (!forced) return false;
      wait_later(block, block.part_done, {});
      continue;
    }
    const Event event = std::move(signals.front());
    signals.pop_front();
    block.pending.push_back(event.at);
    int& landed = block.knows.landed[event.at.lane];
    landed = std::max(landed, event.at.index + 1);
    learn(block, *event.knows);
  }
  return true;
}

bool Synchronization::acquire(Block& block, bool forced) {
  for (; block.part_done < op_->semaphores.size(); ++block.part_done) {
    Semaphore& semaphore = gpu(block.rank).semaphores[op_->semaphores[block.part_done]];
    if (semaphore.free > 0) {
      --semaphore.free;
      continue;
    }
    if (semaphore.released.empty()) {
      if (!forced) return false;
      wait_later(block, block.part_done, {});
      continue;
    }
    const Event event = std::move(semaphore.released.front());
    semaphore.released.pop_front();
    if (event.at.index >= 0 && event.at.lane != block.lane) block.pending.push_back(event.at);
    learn(block, *event.knows);
  }
  return true;
}

void Synchronization::release(Block& block) {
  for (const int number : op_->semaphores)
    gpu(block.rank).semaphores[number].released.push_back({here(block), knowledge(block)});
}

bool Synchronization::barrier(Block& block, std::size_t number, bool forced) {
  Barrier& at = gpu(block.rank).barriers[op_->barrier];
  if (block.arrived) {
    if (!forced) return false;  // the last thread block to arrive releases all
    block.arrived = false;
    const auto mine = std::find(at.blocks.begin(), at.blocks.end(), number);
    at.at.erase(at.at.begin() + (mine - at.blocks.begin()));
    at.blocks.erase(mine);
    wait_later(block, 0, {});
    return true;
  }
  at.blocks.push_back(number);
  at.at.push_back(here(block));
  at.knows.add(block.knows);
  block.arrived = true;
  if (static_cast<int>(at.blocks.size()) < op_->barrier_blocks)
    return forced ? barrier(block, number, true) : false;
  const Barrier full = std::exchange(at, {});
  for (std::size_t i = 0; i < full.blocks.size(); ++i) {
    Block& one = blocks_[full.blocks[i]];
    one.arrived = false;
    for (std::size_t j = 0; j < full.at.size(); ++j) {
      if (j != i && full.at[j].index >= 0) one.pending.push_back(full.at[j]);
    }
    learn(one, full.knows);
    if (full.blocks[i] != number) advance(one);
  }
  return true;
}

void Synchronization::wait_later(Block& block, std::size_t number, const Range& range) {
  const InstructionId waiting = put(block, {});
  pending_.push_back({waiting, block.rank, op_, number, range});
}

void Synchronization::resolve_pending_waits() {
  for (const PendingWait& one : pending_) resolve(one);
}

// If the awaited event never happened, the instruction waits for itself, which the checker reports
// as a deadlock.
void Synchronization::resolve(const PendingWait& one) {
  Gpu& at = gpu(one.rank);
  std::vector<InstructionId> by;
  op_ = one.op;
  if (one.op->verb == PlanVerb::kWait) {
    auto& signals = at.signals[one.op->port ? 1 : 0][one.op->channels[one.number]];
    if (!signals.empty()) {
      by.push_back(signals.front().at);
      signals.pop_front();
    }
  } else if (one.op->verb == PlanVerb::kAcquire) {
    auto& released = at.semaphores[one.op->semaphores[one.number]].released;
    if (!released.empty()) {
      by.push_back(released.front().at);
      released.pop_front();
    }
  } else if (one.op->packets_in) {
    bool covered = false;
    by = packets_in(one.rank, one.range, covered);
    if (!covered) by.clear();
  }
  by.erase(std::remove_if(by.begin(), by.end(), [](const auto& id) { return id.index < 0; }),
           by.end());
  auto& after = lane(one.waiting.lane).steps[one.waiting.index].after;
  if (by.empty()) by.push_back(one.waiting);
  after.insert(after.end(), by.begin(), by.end());
}

}  // namespace tutti::core::custom
