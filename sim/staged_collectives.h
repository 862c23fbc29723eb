#pragma once

// Collectives in which NCCL does something inside every worker (core/strategy/collective_parts.h), by NCCL's own times: its part of each worker is a timed
// collective, what is between are messages as anywhere. A rank goes from part to part by itself. NCCL begins in a worker when the last of its replicas is
// there: TensorFlow launches the kernels of all of them together, each of which waits for its own GPU's data. That those which have it hold multiprocessors until
// the last has is left out.
// SOURCE: tensorflow/core/nccl/nccl_manager.cc, NcclManager::CheckReady, RunCollective.

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "core/strategy/collective_parts.h"
#include "sim/event_queue.h"
#include "sim/folding/ties.h"
#include "sim/interpreter.h"
#include "sim/timed_collectives.h"

namespace tutti::sim {

class StagedCollectives {
 public:
  /// `listener` is told of all ranks of the whole, and has to hand in what it is told of parts (has_part()).
  StagedCollectives(Interpreter& interpreter, TimedCollectives& timed, EventQueue& events,
                    InterpreterListener& listener)
      : interpreter_(interpreter), timed_(timed), events_(events), listener_(listener) {}

  /// The collective is carried out here.
  static bool takes(const core::Collective& collective) { return core::timed_parts(collective) != nullptr; }
  /// The instance is one of those here. Interpreters' are below, those of timed collectives above.
  static bool has(std::uint32_t instance) { return instance >= kFirst && instance < Network::kHolders; }
  /// What its ranks take in all: NCCL's pieces.
  static std::int64_t pieces_of(const core::CollectiveParts& parts);

  /// Has `ties` watched from now on.
  void watch(Ties& ties) { ties_ = &ties; }

  /// As the interpreter's.
  void expect(const core::Collective& collective, const std::function<bool()>& go_on);
  std::uint32_t open(const core::Collective& collective);
  void start(std::uint32_t instance, core::Rank rank, core::Time now);
  void close(std::uint32_t instance);

  /// The instance, of the interpreter or of timed collectives, is part of one of those here.
  [[nodiscard]] bool has_part(std::uint32_t instance) const { return !parts_.empty() && parts_.contains(instance); }
  /// A rank of the part is through.
  void part_done(std::uint32_t part, core::Rank rank, core::Time now, const Trail& trail);
  /// A step of the part as one of the whole, by whose schedule lanes and steps are counted. REQUIRES: has_part().
  [[nodiscard]] StepDone of_whole(const StepDone& step) const;

 private:
  static constexpr std::uint32_t kFirst = 1U << 30;

  /// A part of a collective under way.
  struct Stage {
    std::uint64_t serial = 0;           ///< of NCCL's
    std::vector<core::Rank> waits_for;  ///< NCCL's: of each worker, replicas that have not come
    std::int64_t instance = -1;         ///< of others, once somebody has come
    core::Rank left = 0;                ///< of others: ranks that are not through
    std::vector<Trail> began;           ///< by rank, how it came here
  };
  struct Whole {
    std::uint32_t instance = 0;
    const core::Collective* collective = nullptr;
    const core::CollectiveParts* parts = nullptr;
    std::vector<Stage> stages;
  };
  /// What an instance is of.
  struct Part {
    Whole* whole = nullptr;
    std::size_t stage = 0;
    std::int32_t worker = -1;  ///< NCCL's
    core::Rank left = 0;       ///< NCCL's: ranks that have not been told of
  };

  void enter(Whole& whole, std::size_t stage, core::Rank rank, core::Time now, const Trail& trail);
  void call_nccl(Whole& whole, std::size_t stage, core::Rank last, core::Time now);
  void run_among_all(Whole& whole, std::size_t stage, core::Rank rank, core::Time now);
  [[nodiscard]] static core::Time launch_of(const core::CollectiveParts& parts, std::size_t stage);

  Interpreter& interpreter_;
  TimedCollectives& timed_;
  EventQueue& events_;
  InterpreterListener& listener_;
  Ties* ties_ = nullptr;
  std::unordered_map<std::uint32_t, std::unique_ptr<Whole>> wholes_;
  std::unordered_map<std::uint32_t, Part> parts_;  ///< by instance
  /// The lowest is taken first: with nothing under way all that follows is the same, whatever was before (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t instances_ = 0;
};

}  // namespace tutti::sim
