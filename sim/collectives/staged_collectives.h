#pragma once

// Collectives with NCCL operations inside every worker (core/strategy/collective_parts.h). Each
// worker's NCCL part takes NCCL's predicted time (timed_collectives.h). The parts between workers
// are simulated message by message. Each rank continues with its next part as soon as it has
// completed its current one, independently of the other ranks. NCCL begins in a worker when the
// last of the worker's replicas has arrived, because TensorFlow launches the kernels of all its
// GPUs together. On a real GPU, each kernel then waits for the data of its own GPU and occupies
// multiprocessors while it waits; the model omits this.
//
// The NCCL operations of one worker belong to one communicator, which executes them one after the
// other, in the order in which they were called. An operation that is called while another one runs
// waits for it, and is launched afterwards. Stages between workers do not wait for NCCL.
// SOURCE: tensorflow/core/nccl/nccl_manager.cc, NcclManager::CheckReady, RunCollective,
// LoopKernelLaunches (one stream per device); byteps/common/nccl_manager.cc, GetComm, GetStream.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

  /// Returns true if the collective has parts inside workers for which NCCL's times are predicted.
  [[nodiscard]] bool takes(const core::Collective& collective) const override {
    return core::timed_parts(collective) != nullptr;
  }
  void expect(const core::Collective& collective, const GoOn& go_on) override;
  std::uint32_t open(const core::Collective& collective, CollectiveListener& listener) override;
  void start(std::uint32_t instance, core::Rank rank, core::Time now) override;
  void close(std::uint32_t instance) override;
  /// Handles kStage.
  void handle(const Event& event) override;
  /// Returns 0. The work is counted by the engines that execute the parts of a collective.
  [[nodiscard]] std::int64_t work_done() const override { return 0; }
  /// Returns true. The state of this engine need not be visited, because it changes only when a
  /// rank completes a part of a collective.
  [[nodiscard]] bool state_is_visited() const override { return true; }

  /// Returns the total number of pieces (timed_collectives.h) of all NCCL parts, over all workers.
  static std::int64_t pieces_of(const core::CollectiveParts& parts);

  /// From now on, reports to `ties` each resource that an event requests (sim/folding/ties.h).
  void watch(Ties& ties) { ties_ = &ties; }

 private:
  /// The state of one stage of a collective in flight.
  struct Stage {
    std::uint64_t serial = 0;  ///< for NCCL parts: serial number, which determines the order of
                               ///< simultaneous events
    /// For NCCL parts: for each worker, the number of its replicas that have not arrived.
    std::vector<core::Rank> waits_for;
    std::int64_t instance =
        -1;  ///< for parts between workers: instance number; -1 if no rank has arrived
    core::Rank left =
        0;  ///< for parts between workers: number of ranks that have not completed the part
    std::vector<CausalChain> began;  ///< for each rank, its causal chain when it arrived
  };
  struct Whole {
    std::uint32_t instance = 0;
    CollectiveListener* listener = nullptr;
    const core::Collective* collective = nullptr;
    const core::CollectiveParts* parts = nullptr;
    std::vector<Stage> stages;
  };
  /// The collective and the stage to which an instance of another engine belongs.
  struct Part {
    Whole* whole = nullptr;
    std::size_t stage = 0;
    std::int32_t worker =
        -1;  ///< for NCCL parts: the worker that executes the part; -1 for parts between workers
    core::Rank left = 0;  ///< for NCCL parts: number of ranks whose completion has not been
                          ///< reported
    core::Time waited =
        {};  ///< for NCCL parts: time for which the part waited for the communicator
  };

  /// A call of NCCL by the replicas of a worker.
  struct Call {
    Whole* whole = nullptr;
    std::size_t stage = 0;
    core::Rank last = 0;  ///< the replica that arrived last
    core::Time at;        ///< time at which this replica arrived
  };
  /// The communicator of a worker's GPUs.
  struct Communicator {
    std::deque<Call> calls;  ///< the operation that runs, followed by those that wait for it
    /// The end of the last operation; nullopt: there was none.
    std::optional<core::Time> free = std::nullopt;
  };

  /// All parts that one other engine (the interpreter or TimedCollectives) executes. The keys of
  /// `of` are the instance numbers in that engine.
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
  void call_nccl(const Call& call);
  void begin(std::int32_t worker);
  void run_among_all(Whole& whole, std::size_t stage, core::Rank rank, core::Time now);
  [[nodiscard]] static core::Time launch_of(const core::CollectiveParts& parts, std::size_t stage);

  Interpreter& interpreter_;
  TimedCollectives& timed_;
  EventQueue& events_;
  Ties* ties_ = nullptr;
  std::unordered_map<std::uint32_t, std::unique_ptr<Whole>> wholes_;
  Parts among_all_;                                     ///< parts that the interpreter executes
  Parts inside_workers_;                                ///< parts that TimedCollectives executes
  std::map<std::int32_t, Communicator> communicators_;  ///< by worker
  /// Free instance numbers. The lowest free number is used first, so that a training step that
  /// begins with no collective in flight uses the same numbers as the previous step (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t instances_ = 0;
};

}  // namespace tutti::sim
