#pragma once

// Executes Horovod's cycles in a real run (sim/run/gates.h executes them in virtual time). Every
// worker has a gate (core/plan/gate/cycle_gate.h), which decides which packs are fused and when
// they start. In each round, every worker proposes packs, as a list of numbers, and sends the
// proposal to the first worker. The first worker returns the element-wise minimum of all proposals
// to every worker. All gates therefore make the same decisions, and all workers open collectives in
// the same order.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lowering/gates.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/collectives.h"
#include "real/process/timers.h"
#include "real/transport/devices.h"

namespace tutti::real {

class Cycles {
 public:
  using Clock = Transport::Clock;

  /// Callbacks into the run. `replica` is an index among the replicas of this worker.
  struct Hooks {
    std::function<std::byte*(std::int32_t step, int pack, std::size_t replica)> data;
    /// Called when the replica's part of the pack is launched, and when it is complete.
    std::function<void(std::int32_t step, int pack, std::size_t replica)> launched, done;
  };

  /// `replicas`: the ranks of this worker's replicas, at least one. `period`: the length of a
  /// cycle. REQUIRES: the plan has one gate for all replicas; all arguments outlive this object.
  Cycles(const core::Scenario& scenario, std::vector<core::Rank> replicas,
         std::chrono::nanoseconds period, Devices& devices, Timers& timers,
         Collectives& collectives, Hooks hooks);

  /// Prepares the training steps first … first + count - 1. The function begin() starts the first
  /// cycle of these steps at time `begin`.
  void prepare(std::int32_t first, std::int32_t count);
  void begin(Clock::time_point begin);
  /// Must be called when the replica's gradients of the pack are ready to be reduced.
  void ask(std::int32_t step, int pack, std::size_t replica);
  /// Must be called when a rank of this process has completed a collective. Returns false if the
  /// collective was not opened by this object.
  bool rank_done(CollectiveTag tag, core::Rank rank);
  /// Executes pending decisions. Must not be called from inside a callback.
  void go_on();
  /// Ends the prepared steps. REQUIRES: the steps are complete.
  void close();

  /// Returns the training step and the first pack of the collective with this tag; nullopt if the
  /// collective is an agreement among the workers. REQUIRES: this object opened the collective.
  [[nodiscard]] std::optional<CollectiveTag> pack_of(CollectiveTag tag) const;
  [[nodiscard]] bool is_one(CollectiveTag tag) const {
    return tag.pack >= scenario_.plan.packs.size();
  }
  /// Returns a note for the user with the number of collectives in the previous steps; empty if
  /// there were none.
  [[nodiscard]] std::string describe() const;

 private:
  /// Packs that are fused into one collective.
  struct Fused {
    std::shared_ptr<const core::GateBatch> batch;
    const core::Collective* collective = nullptr;
    /// The fusion buffer of each replica; empty for a single pack.
    std::vector<Devices::Memory> buffers;
    std::size_t left = 0;  ///< number of replicas that have not completed the collective
  };

  void open_agreement();
  void begin_cycle();
  void agreed();
  void apply_decisions(const std::vector<core::GateDecision>& decisions);
  CollectiveTag open(const std::shared_ptr<const core::GateBatch>& batch);
  void start(CollectiveTag tag, std::size_t replica);
  [[nodiscard]] core::Time now() const;
  void copy(const Fused& fused, std::size_t replica, bool out);
  [[nodiscard]] const core::Collective& collective_of(core::DataType type, std::int64_t elements);
  [[nodiscard]] const core::Pack& pack(int p) const { return scenario_.plan.packs[p]; }
  [[nodiscard]] CollectiveTag next_tag();

  const core::Scenario& scenario_;
  std::vector<core::Rank> replicas_;
  Devices& devices_;
  Timers& timers_;
  Collectives& collectives_;
  Hooks hooks_;
  core::Collective agreement_;
  /// The buffer of the agreement: at first this worker's proposal, later the minimum over all
  /// workers.
  Devices::Memory flags_;
  std::unique_ptr<core::Gate> gate_;
  std::map<std::pair<core::DataType, std::int64_t>, std::unique_ptr<const core::Collective>> made_;

  std::int32_t first_ = 0, count_ = 0;
  std::uint32_t numbers_ = 0;
  int packs_in_step_ = 0;
  /// The number of packs in the prepared steps that the workers have not yet agreed to execute.
  std::int64_t packs_to_agree_ = 0;
  std::int32_t step_ = 0;                      ///< the training step of the current round
  std::optional<CollectiveTag> agreement_at_;  ///< the agreement in flight
  bool decided_ = false;
  Clock::time_point origin_;              ///< the real time that corresponds to time 0 of the gate
  std::map<CollectiveTag, Fused> fused_;  ///< the fused packs in flight
  std::map<const core::GateBatch*, CollectiveTag> tags_;  ///< tags of the batches in flight
  std::vector<CollectiveTag> over_;                       ///< collectives that go_on() closes
  std::map<std::int32_t, std::vector<core::Bytes>>
      sizes_;  ///< for each training step, the sizes of its collectives
};

}  // namespace tutti::real
