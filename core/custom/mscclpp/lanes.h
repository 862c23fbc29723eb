#pragma once

// Converts an execution plan to lanes of messages. MSCCL++ is one-sided: a rank writes into the
// memory of another rank and then signals it. In Tutti, every message has a send and a receive.
// Therefore each thread block that writes to another rank gets an *inbox* on that rank: a lane that
// receives the written data. An operation that waits for a signal becomes a wait for steps of the
// inbox. Without a signal, written data may arrive at any time after the send. The checker
// therefore reports every access to the written range that is not ordered after the signal.

#include <cstdint>
#include <vector>

#include "core/custom/mscclpp/plan.h"
#include "core/schedule/step.h"

namespace tutti::core::custom {

/// Identifies an instruction by its lane and its index. The indices remain valid when several
/// instructions are joined into one step.
struct InstructionId {
  int lane = -1;
  int index = -1;
  auto operator<=>(const InstructionId&) const = default;
};

/// A step of a lane before steps are numbered.
struct Instruction {
  StepKind kind = StepKind::kNop;
  int lane = -1;  ///< lane at the other end of the message, as an index into PlanLanes::lanes
  Range source;
  Range target;
  std::vector<Range> inputs;  ///< only for kReduce: ranges whose sum is stored in `target`
  RankSet group;
  std::vector<InstructionId> after;  ///< instructions to wait for; an instruction that is listed in
                                     ///< its own `after` never ends
  bool fused = false;                ///< true: the instruction sends the result of the previous
                                     ///< instruction
  Position at;
};

struct PlanLane {
  enum class Kind : std::uint8_t {
    kBlock,      ///< a thread block
    kProxy,      ///< sends data that thread blocks request on a port channel
    kInbox,      ///< receives the data that one lane of another rank writes to this rank
    kMulticast,  ///< receives the data that one lane of another rank multicasts through a switch
    kServer,     ///< sends the data that one lane of another rank reads
  };
  Kind kind = Kind::kBlock;
  Rank rank = 0;
  int number = 0;  ///< for kBlock, the index of the thread block; for kMulticast, the index of the
                   ///< multicast (the same on all ranks)
  std::vector<Instruction> steps;
};

struct PlanLanes {
  std::vector<PlanLane> lanes;
  int multicasts = 0;
};

/// Returns the lanes of a plan whose chunks have `chunk` elements of `element_bytes` each. Each
/// rank's input begins `input_shift` elements after its place in the output.
PlanLanes lanes_of(const Plan& plan, std::int64_t chunk, std::int64_t input_shift,
                   std::int64_t element_bytes);

/// A step of the final schedule, and the location of the operation in the plan's text.
struct PlanStep {
  Step step;
  Position at;
};
using PlanSteps = std::vector<std::vector<std::vector<PlanStep>>>;

/// Joins instructions into steps and numbers the lanes and steps. The receive of a message and the
/// wait for this receive become one step. If a copy, addition or send of the received data directly
/// follows a receive, both also become one step. The result is indexed by rank, then by lane, then
/// by step.
PlanSteps steps_of(PlanLanes lanes, Rank ranks);

}  // namespace tutti::core::custom
