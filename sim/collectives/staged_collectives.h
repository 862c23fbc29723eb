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
#include "sim/collectives/timed_collectives.h"
#include "sim/engine/event_queue.h"
#include "sim/folding/ties.h"
#include "sim/interpreter/interpreter.h"

namespace tutti::sim {

class StagedCollectives final : public CollectiveEngine {
 public:
  StagedCollectives(Interpreter& interpreter, TimedCollectives& timed, EventQueue& events)
      : interpreter_(interpreter), timed_(timed), events_(events), among_all_(*this), inside_workers_(*this) {}

  /// The plan knows NCCL's times inside workers.
  [[nodiscard]] bool takes(const core::Collective& collective) const override {
    return core::timed_parts(collective) != nullptr;
  }
  void expect(const core::Collective& collective, const GoOn& go_on) override;
  std::uint32_t open(const core::Collective& collective, CollectiveListener& listener) override;
  void start(std::uint32_t instance, core::Rank rank, core::Time now) override;
  void close(std::uint32_t instance) override;
  /// Handles kStage.
  void handle(const Event& event) override;
  /// Its parts are counted by the engines that carry them out.
  [[nodiscard]] std::int64_t work_done() const override { return 0; }
  /// What is not in the parts changes only when a rank is done with one.
  [[nodiscard]] bool state_is_visited() const override { return true; }

  /// What its ranks take in all: NCCL's pieces.
  static std::int64_t pieces_of(const core::CollectiveParts& parts);

  /// Has `ties` watched from now on.
  void watch(Ties& ties) { ties_ = &ties; }

 private:
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
    CollectiveListener* listener = nullptr;
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

  /// The parts that one of the other engines carries out, by its instances.
  struct Parts : CollectiveListener {
    explicit Parts(StagedCollectives& s) : staged(s) {}
    void rank_done(std::uint32_t instance, core::Rank rank, core::Time now, const Trail& trail) override {
      staged.part_done(*this, instance, rank, now, trail);
    }
    void step_done(const StepDone& step) override {
      const Part& part = of.at(step.instance);
      part.whole->listener->step_done(of_whole(part, step));
    }
    StagedCollectives& staged;
    std::unordered_map<std::uint32_t, Part> of;
  };

  void part_done(Parts& parts, std::uint32_t instance, core::Rank rank, core::Time now, const Trail& trail);
  [[nodiscard]] static StepDone of_whole(const Part& part, const StepDone& step);
  void enter(Whole& whole, std::size_t stage, core::Rank rank, core::Time now, const Trail& trail);
  void call_nccl(Whole& whole, std::size_t stage, core::Rank last, core::Time now);
  void run_among_all(Whole& whole, std::size_t stage, core::Rank rank, core::Time now);
  [[nodiscard]] static core::Time launch_of(const core::CollectiveParts& parts, std::size_t stage);

  Interpreter& interpreter_;
  TimedCollectives& timed_;
  EventQueue& events_;
  Ties* ties_ = nullptr;
  std::unordered_map<std::uint32_t, std::unique_ptr<Whole>> wholes_;
  Parts among_all_;       ///< of the interpreter
  Parts inside_workers_;  ///< of timed collectives
  /// The lowest is taken first: with nothing under way all that follows is the same, whatever was before (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t instances_ = 0;
};

}  // namespace tutti::sim
