#pragma once

// The executor of Horovod's cycles for real (in virtual time: sim/run/gates.h). What starts when, and what is fused, is decided by the same gate
// (core/plan/gate/cycle_gate.h): one in every worker. In each round they agree: every worker sends the numbers of its proposal to the first one,
// which sends the least of all to everybody. So all gates decide the same, and the collectives that they decide on are opened in the same order.

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

  /// What of the run it needs and tells. Replicas are counted among those of this worker.
  struct Hooks {
    std::function<std::byte*(std::int32_t step, int pack, std::size_t replica)> data;
    /// The pack travels from now on; is through.
    std::function<void(std::int32_t step, int pack, std::size_t replica)> launched, done;
  };

  /// `replicas`: the ranks of this worker, at least one. `period`: a cycle's. REQUIRES: the plan has a fusion; all it is given outlives it.
  Cycles(const core::Scenario& scenario, std::vector<core::Rank> replicas, std::chrono::nanoseconds period,
         Devices& devices, Timers& timers, Collectives& collectives, Hooks hooks);

  /// Gets ready for steps first … first + count - 1, and begins with the first cycle at `begin`.
  void prepare(std::int32_t first, std::int32_t count);
  void begin(Clock::time_point begin);
  /// The replica has its part of the pack ready.
  void ask(std::int32_t step, int pack, std::size_t replica);
  /// A rank here is through with a collective. False if it is none of those here.
  bool rank_done(CollectiveTag tag, core::Rank rank);
  /// Goes on with what was decided, outside of anybody's call.
  void go_on();
  /// All steps at hand are over.
  void close();

  /// Of one of these collectives: the step and the first pack of what travels; nothing of what workers agree by.
  [[nodiscard]] std::optional<CollectiveTag> pack_of(CollectiveTag tag) const;
  [[nodiscard]] bool is_one(CollectiveTag tag) const { return tag.pack >= scenario_.plan.packs.size(); }
  /// How many collectives there were in the steps so far, in words; empty if there were none.
  [[nodiscard]] std::string describe() const;

 private:
  /// Packs that travel as one.
  struct Fused {
    std::shared_ptr<const core::GateBatch> batch;
    const core::Collective* collective = nullptr;
    std::vector<Devices::Memory> buffers;  ///< of each replica; none of a pack that is alone
    std::size_t left = 0;                  ///< replicas that are not through
  };

  void open_agreement();
  void begin_cycle();
  void agreed();
  void carry_out(const std::vector<core::GateDecision>& decisions);
  CollectiveTag open(const std::shared_ptr<const core::GateBatch>& batch);
  void start(CollectiveTag tag, std::size_t replica);
  [[nodiscard]] core::Time now() const;
  void copy(const Fused& fused, std::size_t replica, bool out);
  [[nodiscard]] const core::Collective& collective_of(core::DataType type, std::int64_t elements);
  [[nodiscard]] const core::Pack& pack(int p) const { return scenario_.plan.packs[static_cast<std::size_t>(p)]; }
  [[nodiscard]] CollectiveTag next_tag();

  const core::Scenario& scenario_;
  std::vector<core::Rank> replicas_;
  Devices& devices_;
  Timers& timers_;
  Collectives& collectives_;
  Hooks hooks_;
  core::Collective agreement_;
  Devices::Memory flags_;  ///< the numbers of the gate's proposal; then the least of all
  std::unique_ptr<core::Gate> gate_;
  std::map<std::pair<core::DataType, std::int64_t>, std::unique_ptr<const core::Collective>> made_;

  std::int32_t first_ = 0, count_ = 0;
  std::uint32_t numbers_ = 0;
  int packs_in_step_ = 0;
  std::int64_t left_to_agree_ = 0;             ///< packs of the steps at hand that are not agreed on
  std::int32_t step_ = 0;                      ///< of the round under way
  std::optional<CollectiveTag> agreement_at_;  ///< open, and not over
  bool decided_ = false;
  Clock::time_point origin_;                                ///< of the time that the gate is told
  std::map<CollectiveTag, Fused> fused_;                    ///< under way
  std::map<const core::GateBatch*, CollectiveTag> tags_;    ///< of those
  std::vector<CollectiveTag> over_;                         ///< to be closed
  std::map<std::int32_t, std::vector<core::Bytes>> sizes_;  ///< by step
};

}  // namespace tutti::real
