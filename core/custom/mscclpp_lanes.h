#pragma once

// An execution plan as lanes of messages. MSCCL++ is one-sided: a rank writes into memory of
// another one, which learns of it by a signal. Here a message has two sides, so that every thread
// block that writes to a rank has an *inbox* there, a lane of its own that receives what is
// written; the wait for a signal is a wait for the inbox. Written data may therefore arrive at any
// time after it is sent, and the checker finds every use of the memory before the signal.

#include <cstdint>
#include <vector>

#include "core/custom/mscclpp_plan.h"
#include "core/schedule/step.h"

namespace tutti::core::custom {

/// An instruction of a lane, by numbers that stay.
struct InstructionId {
  int lane = -1;
  int index = -1;
  auto operator<=>(const InstructionId&) const = default;
};

/// A step, before the steps that it waits for have their final numbers.
struct Instruction {
  StepKind kind = StepKind::kNop;
  int lane = -1;  ///< the other end of the message, as an index into PlanLanes::lanes
  Range source;
  Range target;
  std::vector<Range> inputs;  ///< kReduce: the ranges that are added up in `target`
  RankSet group;
  std::vector<InstructionId> after;  ///< instructions to wait for; itself: forever
  bool fused = false;                ///< a send that belongs to the previous instruction
  Position at;
};

struct PlanLane {
  enum class Kind : std::uint8_t {
    kBlock,      ///< a thread block
    kProxy,      ///< executes the requests of thread blocks to a port channel
    kInbox,      ///< receives the writes of one lane of another rank
    kMulticast,  ///< receives what one lane of another rank multicasts through a switch
    kServer,     ///< sends the data that one lane of another rank reads
  };
  Kind kind = Kind::kBlock;
  Rank rank = 0;
  int number = 0;  ///< kBlock: index of the thread block; kMulticast: the same on all ranks
  std::vector<Instruction> steps;
};

struct PlanLanes {
  std::vector<PlanLane> lanes;
  int multicasts = 0;
};

/// The lanes of a plan whose chunks have `chunk` elements of `element_bytes`. `input_shift`: how
/// far inputs lie behind their places.
PlanLanes lanes_of(const Plan& plan, std::int64_t chunk, std::int64_t input_shift,
                   std::int64_t element_bytes);

/// Steps as a schedule has them, lane by lane of every rank.
struct PlanStep {
  Step step;
  Position at;
};
using PlanSteps = std::vector<std::vector<std::vector<PlanStep>>>;

/// Joins what belongs together (a message and the wait for it; a received message and what is done
/// with it at once), and numbers lanes and steps.
PlanSteps steps_of(PlanLanes lanes, Rank ranks);

}  // namespace tutti::core::custom
