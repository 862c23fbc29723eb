#pragma once

#include "core/custom/mscclpp/synchronization.h"

namespace tutti::core::custom {

/// The operations that move, copy or reduce data.
class Transfers : public Synchronization {
 protected:
  using Synchronization::Synchronization;

  void put_op(Block& block);
  void get(Block& block);
  void copy_op(Block& block);
  void reduce(Block& block);
  /// Writes data of a thread block to all members of a switch channel. On the block's own rank, the
  /// write is a local copy.
  void store(Block& block, const Range& source, const PlanPlace& place);
  void reduce_store(Block& block);

 private:
  /// Reads a range of another rank: sends a request to that rank. The rank that gets the request
  /// replies with the data.
  void request(Block& block, const PlanPlace& place);
  /// Receives the reply to a request. `own`: the range that is added to the received data, if
  /// `kind` is a reduction.
  void receive_reply(Block& block, Rank rank, StepKind kind, const Range& own, const Range& target);
  InstructionId copy(Block& block, const Range& source, const Range& target);
};

}  // namespace tutti::core::custom
