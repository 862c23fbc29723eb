#pragma once

// Horovod's background threads, for real (simulated: sim/fusing.h). In every cycle workers agree on which packs are ready on all of them: each
// tells the first worker by two numbers for every pack whether it is ready, and since when; this one tells all the least of everybody's numbers. So
// all know the same, fuse the same packs by the same rule (core/strategy/fusion_order.h), and carry these collectives out in the same order, one after
// the other on each replica's stream.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/strategy/fusion_order.h"
#include "real/collectives.h"
#include "real/devices.h"
#include "real/timers.h"

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
    std::int32_t step = 0;
    std::vector<int> packs;
    const core::Collective* collective = nullptr;
    std::vector<Devices::Memory> buffers;  ///< of each replica; none of a pack that is alone
    std::size_t left = 0;                  ///< replicas that are not through
  };

  /// A pack that is ready on some replicas here.
  struct Asked {
    std::size_t replicas = 0;
    int place = 0;          ///< among the step's packs, in the order in which they became ready on all replicas here
    bool reported = false;  ///< in a cycle before
  };

  void open_agreement();
  void begin_cycle();
  [[nodiscard]] std::int32_t order_of(const Asked& asked) const;
  void agreed();
  void fuse(std::vector<int> packs);
  void begin_next(std::size_t replica);
  void copy(const Fused& fused, std::size_t replica, bool out);
  [[nodiscard]] const core::Collective& collective_of(core::DataType type, std::int64_t elements);
  [[nodiscard]] const core::Pack& pack(int p) const { return scenario_.plan.packs[static_cast<std::size_t>(p)]; }
  [[nodiscard]] bool is_fused(int p) const { return pack(p).phase == core::PackPhase::kGradients; }
  [[nodiscard]] CollectiveTag next_tag();
  [[nodiscard]] bool any_left() const { return step_ < first_ + count_; }

  const core::Scenario& scenario_;
  std::vector<core::Rank> replicas_;
  std::chrono::nanoseconds period_;
  Devices& devices_;
  Timers& timers_;
  Collectives& collectives_;
  Hooks hooks_;
  int gradient_packs_ = 0;
  core::Collective agreement_;
  Devices::Memory flags_;  ///< for each pack: 1 if it is ready, else 0; and minus its order (order_of)
  core::FusionOrder order_;
  std::map<std::pair<core::DataType, std::int64_t>, std::unique_ptr<const core::Collective>> made_;

  std::int32_t first_ = 0, count_ = 0;
  std::int32_t step_ = 0;  ///< of which not all packs are agreed on
  std::uint32_t numbers_ = 0;
  std::map<std::pair<std::int32_t, int>, Asked> asked_;  ///< by step and pack, until they are agreed on
  int places_ = 0;                                       ///< that were given in step_
  std::vector<bool> agreed_;                             ///< packs of step_
  int agreed_on_ = 0;
  std::optional<CollectiveTag> agreement_at_;  ///< open, and not over
  bool decided_ = false;
  Clock::time_point cycle_began_;
  std::map<CollectiveTag, Fused> fused_;                    ///< under way
  std::vector<std::deque<CollectiveTag>> streams_;          ///< by replica: the first is under way
  std::vector<CollectiveTag> over_;                         ///< to be closed
  std::map<std::int32_t, std::vector<core::Bytes>> sizes_;  ///< by step
};

}  // namespace tutti::real
