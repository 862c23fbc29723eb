#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/custom/mscclpp/knowledge.h"
#include "core/custom/mscclpp/lane_builder.h"
#include "core/schedule/schedule.h"

namespace tutti::core::custom {

/// Executes the operations of a plan without data: stores the state of all thread blocks, and
/// provides functions by which thread blocks append instructions to lanes. The derived classes
/// Synchronization and Transfers add the operations of the plan.
class BlockExecution : public LaneBuilder {
 protected:
  BlockExecution(const Plan& plan, std::int64_t chunk, std::int64_t shift)
      : plan_(plan), chunk_(chunk), shift_(shift) {}

  struct Block {
    Rank rank = 0;
    const std::vector<PlanOp>* ops = nullptr;
    int lane = -1;
    std::size_t at = 0;
    std::int64_t round = 0;
    std::size_t inner = 0;
    bool arrived = false;       ///< true if the thread block has reached a barrier and waits there
    std::size_t part_done = 0;  ///< number of channels or semaphores for which the current
                                ///< operation is already done
    std::vector<InstructionId> pending;  ///< instructions for which the block's next instruction
                                         ///< waits
    Knowledge knows;
    std::shared_ptr<const Knowledge> snapshot;  ///< copy of `knows`; null if `knows` has changed
                                                ///< since the copy was made
    [[nodiscard]] bool done() const { return at >= ops->size(); }
  };

  struct Semaphore {
    std::int64_t free = 0;
    std::deque<Event> released;
  };

  struct Proxy {
    bool used = false;  ///< true if an operation puts data on the channel and does not wait until
                        ///< the put is complete
    int lane = -1;
    Knowledge knows;
  };

  struct Barrier {
    std::vector<std::size_t> blocks;
    std::vector<InstructionId> at;
    Knowledge knows;
  };

  struct PacketWrite {
    Range range;
    InstructionId by;
  };

  struct Gpu {
    std::vector<Semaphore> semaphores;
    std::vector<std::deque<Event>> signals[2];  ///< pending signals on memory channels ([0]) and on
                                                ///< port channels ([1])
    std::vector<Proxy> proxies;
    std::map<int, Barrier> barriers;
    std::multimap<std::int64_t, PacketWrite> packets[2];  ///< packets in the data buffer ([0]) and
                                                          ///< in the scratch buffer ([1]); the key
                                                          ///< is the offset
    std::int64_t longest_packet = 0;
  };

  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(plan_.gpus.size()); }
  Gpu& gpu(Rank rank) { return gpus_[rank]; }

  using LaneBuilder::put;
  /// Appends an instruction to the thread block. The instruction waits for all pending dependencies
  /// of the block.
  InstructionId put(Block& block, Instruction instruction);
  /// Returns the most recent instruction of a thread block. The most recent instruction is done
  /// only after all earlier instructions of the thread block.
  InstructionId here(Block& block);
  /// Moves the thread block to its next operation.
  static void advance(Block& block);

  /// Adds messages to the messages that a thread block knows to have been sent. The thread block
  /// also waits for the arrival of those messages that go to its own rank.
  void learn(Block& block, const Knowledge& more);
  static std::shared_ptr<const Knowledge> knowledge(Block& block);

  /// Returns the part of `place` that the current operation handles in the current round.
  [[nodiscard]] Range range(const PlanPlace& place, Rank own) const;

  /// Writes data of a thread block into the memory of another rank. Returns the instruction by
  /// which the other rank receives the data.
  InstructionId write(Block& block, const Range& source, Rank rank, const Range& target,
                      bool fused);
  /// Does the same as write(), but over a port channel: the thread block requests the send, and the
  /// proxy thread of the channel then sends the data.
  InstructionId write_by_proxy(Block& block, Proxy& proxy, const Range& source, Rank rank,
                               const Range& target);

  /// Records that an instruction wrote packets into a range.
  void note_packets(Rank rank, const Range& range, InstructionId by);
  /// Returns the instructions that wrote packets into any part of a range. `covered` is set to true
  /// if packets fill the whole range.
  std::vector<InstructionId> packets_in(Rank rank, const Range& range, bool& covered);

  const Plan& plan_;
  std::int64_t chunk_;  ///< number of elements of a chunk
  std::int64_t shift_;  ///< number of elements from a rank's input to its place in the output
  std::vector<Gpu> gpus_;
  std::vector<Block> blocks_;
  const PlanOp* op_ = nullptr;  ///< the operation that is being executed
  Position at_;                 ///< its position in the text
  std::int64_t round_offset_ = 0;
  std::int64_t round_size_ = INT64_MAX;
};

}  // namespace tutti::core::custom
