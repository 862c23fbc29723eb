// Executes a plan without data. A thread block runs until it waits for a signal, barrier, semaphore
// or packet that is not there yet. An inbox is a lane that receives what another thread block
// writes (lanes.h). Each thread block keeps two counts for every inbox (knowledge.h). If a signal
// tells a thread block of messages to its own rank, the thread block waits for the inboxes of these
// messages.
//
// If no thread block can run any more, their waits are skipped. With the waits skipped, the checker
// gets all steps and can report the deadlock.
//
// The execution has layers. Each layer is a class that derives from the one above it:
//
//     LaneBuilder       the lanes, and the instructions that are appended to them
//     BlockExecution    the state of thread blocks and GPUs; writes of a block to another rank
//     Synchronization   signals, semaphores, barriers and packets
//     Transfers         puts, gets, copies, reductions and multicasts
//     LaneMaker         the order in which thread blocks run (this file)

#include "core/custom/mscclpp/lanes.h"

#include <algorithm>
#include <utility>

#include "core/custom/mscclpp/transfers.h"

namespace tutti::core::custom {
namespace {

class LaneMaker : public Transfers {
 public:
  LaneMaker(const Plan& plan, std::int64_t chunk, std::int64_t shift, std::int64_t element_bytes)
      : Transfers(plan, chunk, shift), element_bytes_(element_bytes) {}

  PlanLanes make() {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const PlanGpu& gpu = plan_.gpus[rank];
      gpus_.emplace_back();
      gpus_.back().semaphores.resize(gpu.semaphores.size());
      for (std::size_t s = 0; s < gpu.semaphores.size(); ++s)
        gpus_.back().semaphores[s].free = gpu.semaphores[s];
      gpus_.back().signals[0].resize(gpu.memory_channels.size());
      gpus_.back().signals[1].resize(gpu.port_channels.size());
      gpus_.back().proxies.assign(gpu.port_channels.size(), {});
      find_proxies(gpu, gpus_.back());
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        Block block;
        block.rank = rank;
        block.ops = &gpu.blocks[b];
        block.lane = new_lane(PlanLane::Kind::kBlock, rank, static_cast<int>(b));
        blocks_.push_back(std::move(block));
      }
    }
    run();
    return std::move(made_);
  }

 private:
  void find_proxies(const PlanGpu& of, Gpu& into) {
    const auto look = [&](const PlanOp& op) {
      if (!op.port || op.verb != PlanVerb::kPut || op.flushes) return;
      for (const int channel : op.channels) into.proxies[channel].used = true;
    };
    for (const auto& block : of.blocks) {
      for (const PlanOp& op : block) {
        look(op);
        for (const PlanOp& inner : op.body) look(inner);
      }
    }
  }

  /// Executes an operation. Returns false if the operation cannot run yet, so that the thread block
  /// has to wait.
  bool execute(Block& block, std::size_t number, bool forced) {
    if (!take_packets(block, forced)) return false;
    switch (op_->verb) {
      case PlanVerb::kNop:
      case PlanVerb::kPipeline: return true;
      case PlanVerb::kBarrier: return barrier(block, number, forced);
      case PlanVerb::kSignal:
        for (const int channel : op_->channels) post_signal(block, op_->port, channel);
        return true;
      case PlanVerb::kWait: return wait(block, forced);
      case PlanVerb::kFlush:
        for (const int channel : op_->channels) {
          if (op_->port) flush(block, channel);
        }
        return true;
      case PlanVerb::kPut: return put_op(block), true;
      case PlanVerb::kGet: return get(block), true;
      case PlanVerb::kCopy: return copy_op(block), true;
      case PlanVerb::kReduce: return reduce(block), true;
      case PlanVerb::kStore:
        return store(block, range(op_->source[0], block.rank), op_->target[0]), true;
      case PlanVerb::kReduceStore: return reduce_store(block), true;
      case PlanVerb::kAcquire: return acquire(block, forced);
      case PlanVerb::kRelease: return release(block), true;
    }
    return true;
  }

  [[nodiscard]] std::int64_t unit(const PlanOp& pipeline) const {
    const std::int64_t elements = pipeline.chunks * chunk_;
    const std::int64_t wanted = std::max<std::int64_t>(1, pipeline.unit_bytes / element_bytes_);
    return std::max(wanted, (elements + plan_.max_rounds - 1) / plan_.max_rounds);
  }

  [[nodiscard]] std::int64_t rounds(const PlanOp& pipeline) const {
    return (pipeline.chunks * chunk_ + unit(pipeline) - 1) / unit(pipeline);
  }

  /// Returns the current operation of the thread block; null if it has executed its last operation.
  const PlanOp* current(Block& block) {
    while (!block.done()) {
      const PlanOp& op = (*block.ops)[block.at];
      round_offset_ = 0;
      round_size_ = INT64_MAX;
      if (op.verb != PlanVerb::kPipeline) return &op;
      if (op.body.empty() || block.round >= rounds(op)) {
        block.round = 0;
        ++block.at;
        continue;
      }
      round_size_ = unit(op);
      round_offset_ = block.round * round_size_;
      return &op.body[block.inner];
    }
    return nullptr;
  }

  bool execute_next(std::size_t number, bool forced) {
    Block& block = blocks_[number];
    op_ = current(block);
    if (op_ == nullptr) return false;
    at_ = op_->at;
    if (!execute(block, number, forced)) return false;
    advance(block);
    return true;
  }

  void run() {
    for (;;) {
      bool moved = false;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        while (execute_next(i, false)) moved = true;
      }
      if (moved) continue;
      bool stuck = false;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        while (execute_next(i, false)) stuck = true;
        stuck = execute_next(i, true) || stuck;
      }
      if (!stuck) break;
    }
    for (Block& block : blocks_) here(block);
    resolve_pending_waits();
  }

  std::int64_t element_bytes_;
};

}  // namespace

PlanLanes lanes_of(const Plan& plan, std::int64_t chunk, std::int64_t input_shift,
                   std::int64_t element_bytes) {
  return LaneMaker(plan, chunk, input_shift, element_bytes).make();
}

}  // namespace tutti::core::custom
