#pragma once

// Collectives with NCCL operations inside every worker (core/strategy/collective_parts.h), which
// take NCCL's predicted times: each worker's NCCL part is a timed collective, the parts between
// workers are messages as in other collectives. Each rank goes from part to part independently.
// NCCL begins in a worker when the last of its replicas has arrived: TensorFlow launches the
// kernels of all of them together, each of which waits for its own GPU's data. The model leaves out
// that kernels of early GPUs hold multiprocessors until the last GPU is ready.
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
      : interpreter_(interpreter),
        timed_(timed),
        events_(events),
        among_all_(*this),
        inside_workers_(*this) {}

  /// True if the plan has NCCL's times inside workers.
  [[nodiscard]] bool takes(const core::Collective& collective) const override {
    return core::timed_parts(collective) != nullptr;
  }
  void expect(const core::Collective& collective, const GoOn& go_on) override;
  std::uint32_t open(const core::Collective& collective, CollectiveListener& listener) override;
  void start(std::uint32_t instance, core::Rank rank, core::Time now) override;
  void close(std::uint32_t instance) override;
  /// Handles kStage.
  void handle(const Event& event) override;
  /// Returns 0: the parts are counted by the engines that execute them.
  [[nodiscard]] std::int64_t work_done() const override { return 0; }
  /// True, since the state outside the parts changes only when a rank completes one.
  [[nodiscard]] bool state_is_visited() const override { return true; }

  /// Returns the number of NCCL's pieces over all ranks.
  static std::int64_t pieces_of(const core::CollectiveParts& parts);

  /// Has `ties` watched from now on.
  void watch(Ties& ties) { ties_ = &ties; }

 private:
  /// A part of a collective in flight.
  struct Stage {
    std::uint64_t serial = 0;           ///< NCCL: serial number for the order of events
    std::vector<core::Rank> waits_for;  ///< NCCL: by worker, replicas that have not arrived
    std::int64_t instance = -1;         ///< other parts: handle; -1: no rank has arrived
    core::Rank left = 0;                ///< other parts: ranks that are not done
    std::vector<CausalChain> began;     ///< by rank: its causal chain on arrival
  };
  struct Whole {
    std::uint32_t instance = 0;
    CollectiveListener* listener = nullptr;
    const core::Collective* collective = nullptr;
    const core::CollectiveParts* parts = nullptr;
    std::vector<Stage> stages;
  };
  /// The collective and the part that an instance belongs to.
  struct Part {
    Whole* whole = nullptr;
    std::size_t stage = 0;
    std::int32_t worker = -1;  ///< NCCL: the worker that executes the part; else -1
    core::Rank left = 0;       ///< NCCL: ranks whose completion has not been reported
  };

  /// The parts that another engine executes, by its instances.
  struct Parts : CollectiveListener {
    explicit Parts(StagedCollectives& s) : staged(s) {}
    void rank_done(std::uint32_t instance, core::Rank rank, core::Time now,
                   const CausalChain& causal_chain) override {
      staged.part_done(*this, instance, rank, now, causal_chain);
    }
    void step_done(const StepDone& step) override {
      const Part& part = of.at(step.instance);
      part.whole->listener->step_done(of_whole(part, step));
    }
    StagedCollectives& staged;
    std::unordered_map<std::uint32_t, Part> of;
  };

  void part_done(Parts& parts, std::uint32_t instance, core::Rank rank, core::Time now,
                 const CausalChain& causal_chain);
  [[nodiscard]] static StepDone of_whole(const Part& part, const StepDone& step);
  void enter(Whole& whole, std::size_t stage, core::Rank rank, core::Time now,
             const CausalChain& causal_chain);
  void call_nccl(Whole& whole, std::size_t stage, core::Rank last, core::Time now);
  void run_among_all(Whole& whole, std::size_t stage, core::Rank rank, core::Time now);
  [[nodiscard]] static core::Time launch_of(const core::CollectiveParts& parts, std::size_t stage);

  Interpreter& interpreter_;
  TimedCollectives& timed_;
  EventQueue& events_;
  Ties* ties_ = nullptr;
  std::unordered_map<std::uint32_t, std::unique_ptr<Whole>> wholes_;
  Parts among_all_;       ///< executed by the interpreter
  Parts inside_workers_;  ///< executed as timed collectives
  /// The lowest number is used first, so that with no collective in flight the future does not
  /// depend on the past (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t instances_ = 0;
};

}  // namespace tutti::sim
