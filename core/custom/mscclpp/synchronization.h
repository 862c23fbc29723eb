#pragma once

#include <cstddef>
#include <vector>

#include "core/custom/mscclpp/block_execution.h"

namespace tutti::core::custom {

/// The operations with which thread blocks wait for each other: signals, semaphores, barriers, and
/// packets, which carry their own signal. An operation that waits returns false if its event has
/// not happened yet, unless `forced` is true. A forced operation becomes a PendingWait.
class Synchronization : public BlockExecution {
 protected:
  using BlockExecution::BlockExecution;

  /// Sends a signal on a channel. If the signal belongs to a message, `arrival` is the instruction
  /// that receives the message. If `arrival` has index -1, the signal is sent as a separate
  /// message.
  void post_signal(Block& block, bool port, int channel, InstructionId arrival = {});
  void flush(Block& block, int channel);
  void release(Block& block);
  /// Makes the thread block wait for the packets that the operation reads.
  bool take_packets(Block& block, bool forced);
  bool wait(Block& block, bool forced);
  bool acquire(Block& block, bool forced);
  /// `number`: the index of the block in `blocks_`.
  bool barrier(Block& block, std::size_t number, bool forced);
  /// Connects each forced wait with the instruction for which it waits, after all blocks have run.
  void resolve_pending_waits();

 private:
  /// A wait of a thread block for an event that has not happened yet; the event is looked up after
  /// all blocks have run.
  struct PendingWait {
    InstructionId waiting;
    Rank rank = 0;
    const PlanOp* op = nullptr;
    std::size_t number = 0;  ///< index into the operation's channels or semaphores
    Range range;
  };

  InstructionId signal(Block& block, Rank rank);
  /// Makes the thread block wait for an event that has not happened yet and may never happen.
  void wait_later(Block& block, std::size_t number, const Range& range);
  void resolve(const PendingWait& one);

  std::vector<PendingWait> pending_;
};

}  // namespace tutti::core::custom
