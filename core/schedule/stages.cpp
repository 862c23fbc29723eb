// A rank of the composed schedule has the lanes of all its stages. The lanes of stage 0 come first,
// then the lanes of stage 1, …. A lane of stage k begins with one nop for each lane of the previous
// stage on this rank; the nop waits for the end of that lane. After the nops come the stage's own
// steps, with ranks and lanes translated to the composed schedule. All steps are computed on
// request; nothing is stored.

#include "core/schedule/stages.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class Stages : public Schedule {
 public:
  Stages(const StageGroup& group, std::int64_t elements, std::vector<Stage> stages)
      : group_(group), elements_(elements), stages_(std::move(stages)) {
    TUTTI_CHECK(!stages_.empty(), "a schedule in {} stages", stages_.size());
    for (const Stage& stage : stages_) {
      TUTTI_CHECK(stage.schedule->ranks() == size(stage.scope), "a stage of {} ranks on {}",
                  stage.schedule->ranks(), size(stage.scope));
    }
  }

  [[nodiscard]] std::int32_t ranks() const override { return group_.ranks(); }

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    std::int32_t count = 0;
    for (const Stage& stage : stages_) count += lanes_in(stage, rank);
    return count;
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    const StageLane place = locate(rank, lane);
    // A lane that has no steps in its stage also waits, so that later stages cannot start before
    // earlier stages are complete.
    return place.stage->schedule->steps(place.local, place.lane) + place.lanes_before;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const StageLane place = locate(rank, lane);
    if (index < place.lanes_before) {
      Step nop;
      const auto awaited = static_cast<Lane>(place.first_lane_before + index);
      nop.wait = {awaited, steps(rank, awaited)};
      return nop;
    }
    Step step = place.stage->schedule->step(place.local, place.lane, index - place.lanes_before);
    translate(step, rank, place);
    return step;
  }

  [[nodiscard]] IdenticalSteps identical_from(Rank rank, Lane lane,
                                              std::int64_t index) const override {
    const StageLane place = locate(rank, lane);
    if (index < place.lanes_before) return {};
    IdenticalSteps identical =
        place.stage->schedule->identical_from(place.local, place.lane, index - place.lanes_before);
    identical.end += place.lanes_before;
    return identical;
  }

  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    std::int64_t most = 0;
    for (const Stage& stage : stages_) {
      if (takes_part(stage, rank))
        most = std::max(most, stage.schedule->scratch(local(stage.scope, rank)));
    }
    return most + data_of_host(rank);
  }

  [[nodiscard]] int credits(Rank rank, Lane lane) const override {
    const StageLane place = locate(rank, lane);
    return place.stage->schedule->credits(place.local, place.lane);
  }
  [[nodiscard]] Engine engine(Rank rank, Lane lane) const override {
    const StageLane place = locate(rank, lane);
    return place.stage->schedule->engine(place.local, place.lane);
  }
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const override {
    const StageLane place = locate(rank, lane);
    return place.stage->schedule->arrival_slot(place.local, place.lane,
                                               local(place.stage->scope, sender));
  }

  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    const StageLane place = locate(rank, lane);
    place.stage->schedule->visit_ways(place.local, place.lane, [&](const Step& way) {
      Step step = way;
      translate(step, rank, place);
      visit(step);
    });
  }

  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return per_worker == group_.per_worker &&
           std::all_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
             switch (stage.scope) {
               case StageScope::kInsideWorkers:
               case StageScope::kWorkersWithHost: return true;
               case StageScope::kEveryone:
               case StageScope::kReplicas: return stage.schedule->same_everywhere(by, per_worker);
               case StageScope::kLeaders:
               case StageScope::kHosts: return stage.schedule->same_everywhere(by, 1);
               case StageScope::kLeadersWithHosts:
               case StageScope::kHostsAndHelpers: return false;
             }
             return false;
           });
  }

 private:
  /// Identifies a lane of the composed schedule by its stage, and by its rank and lane within the
  /// stage.
  struct StageLane {
    const Stage* stage = nullptr;
    Rank local = 0;
    Lane lane = 0;
    Lane first_lane = 0;         ///< first lane of the stage on this rank
    Lane first_lane_before = 0;  ///< first lane of the previous stage that has lanes on this rank
    std::int32_t lanes_before = 0;
  };

  // --- ranks ---

  /// True if the rank is a host or another helper, not a replica.
  [[nodiscard]] bool is_host(Rank rank) const { return rank >= group_.replicas(); }
  [[nodiscard]] bool is_workers(Rank rank) const { return rank < group_.ranks() - group_.helpers; }

  [[nodiscard]] std::int32_t size(StageScope scope) const {
    switch (scope) {
      case StageScope::kEveryone: return group_.ranks();
      case StageScope::kReplicas: return group_.replicas();
      case StageScope::kInsideWorkers: return group_.per_worker;
      case StageScope::kWorkersWithHost: return group_.per_worker + 1;
      case StageScope::kLeaders:
      case StageScope::kHosts: return group_.workers;
      case StageScope::kLeadersWithHosts: return 2 * group_.workers;
      case StageScope::kHostsAndHelpers: return group_.ranks() - group_.replicas();
    }
    return 0;
  }

  [[nodiscard]] bool takes_part(const Stage& stage, Rank rank) const {
    const bool leader = !is_host(rank) && rank % group_.per_worker == 0;
    switch (stage.scope) {
      case StageScope::kEveryone: return true;
      case StageScope::kWorkersWithHost: return is_workers(rank);
      case StageScope::kReplicas:
      case StageScope::kInsideWorkers: return !is_host(rank);
      case StageScope::kLeaders: return leader;
      case StageScope::kLeadersWithHosts: return leader || (is_host(rank) && is_workers(rank));
      case StageScope::kHosts: return is_host(rank) && is_workers(rank);
      case StageScope::kHostsAndHelpers: return is_host(rank);
    }
    return false;
  }

  /// Returns the rank's index in its instance of the stage. REQUIRES: the rank is in an instance of
  /// the stage.
  [[nodiscard]] Rank local(StageScope scope, Rank rank) const {
    const Rank worker = is_host(rank) ? rank - group_.replicas() : rank / group_.per_worker;
    switch (scope) {
      case StageScope::kEveryone:
      case StageScope::kReplicas: return rank;
      case StageScope::kInsideWorkers: return rank % group_.per_worker;
      case StageScope::kWorkersWithHost:
        return is_host(rank) ? group_.per_worker : rank % group_.per_worker;
      case StageScope::kLeaders:
      case StageScope::kHosts:
      case StageScope::kHostsAndHelpers: return worker;
      case StageScope::kLeadersWithHosts: return is_host(rank) ? group_.workers + worker : worker;
    }
    return 0;
  }

  /// Returns the composed rank of the member with index `other`, in the instance to which `rank`
  /// belongs.
  [[nodiscard]] Rank global(StageScope scope, Rank rank, Rank other) const {
    const Rank worker = is_host(rank) ? rank - group_.replicas() : rank / group_.per_worker;
    switch (scope) {
      case StageScope::kEveryone:
      case StageScope::kReplicas: return other;
      case StageScope::kInsideWorkers: return worker * group_.per_worker + other;
      case StageScope::kWorkersWithHost:
        return other == group_.per_worker ? group_.replicas() + worker
                                          : worker * group_.per_worker + other;
      case StageScope::kLeaders: return other * group_.per_worker;
      case StageScope::kHosts:
      case StageScope::kHostsAndHelpers: return group_.replicas() + other;
      case StageScope::kLeadersWithHosts:
        return other < group_.workers ? other * group_.per_worker
                                      : group_.replicas() + other - group_.workers;
    }
    return 0;
  }

  // --- lanes ---

  [[nodiscard]] std::int32_t lanes_in(const Stage& stage, Rank rank) const {
    return takes_part(stage, rank) ? stage.schedule->lanes(local(stage.scope, rank)) : 0;
  }

  [[nodiscard]] StageLane locate(Rank rank, Lane lane) const {
    StageLane place;
    for (const Stage& stage : stages_) {
      const std::int32_t count = lanes_in(stage, rank);
      if (lane < place.first_lane + count) {
        place.stage = &stage;
        place.local = local(stage.scope, rank);
        place.lane = lane - place.first_lane;
        return place;
      }
      if (count == 0) continue;
      place.first_lane_before = place.first_lane;
      place.lanes_before = count;
      place.first_lane += count;
    }
    TUTTI_CHECK(false, "rank {} has no lane {}", rank, lane);
    return place;
  }

  /// Returns the index of the stage's first lane on `rank`.
  [[nodiscard]] Lane first_lane(const Stage& of, Rank rank) const {
    Lane lane = 0;
    for (const Stage& stage : stages_) {
      if (&stage == &of) break;
      lane += lanes_in(stage, rank);
    }
    return lane;
  }

  // --- steps ---

  [[nodiscard]] std::int64_t data_of_host(Rank rank) const {
    return is_host(rank) && !group_.hosts_hold_data ? elements_ : 0;
  }

  /// A host stores its `data` at the start of its scratch buffer, followed by the scratch buffers
  /// of its stages.
  void translate(Range& range, Rank rank) const {
    if (!is_host(rank) || group_.hosts_hold_data) return;
    if (range.buffer == Buffer::kScratch) range.offset += elements_;
    range.buffer = Buffer::kScratch;
  }

  [[nodiscard]] Peer translate(const Peer& peer, Rank rank, const StageLane& place) const {
    const Rank other =
        global(place.stage->scope, rank, peer.rank(place.local, place.stage->schedule->ranks()));
    return Peer::at(other, first_lane(*place.stage, other) + peer.lane);
  }

  /// Translates the ranks and lanes of a multicast or switch reduction. The translation relies on
  /// the replicas of a worker having consecutive ranks and the same number of lanes in earlier
  /// stages.
  void translate_group(Step& step, Rank rank, const StageLane& place) const {
    const StageScope scope = place.stage->scope;
    TUTTI_CHECK(scope == StageScope::kInsideWorkers || scope == StageScope::kEveryone ||
                    scope == StageScope::kReplicas,
                "a multicast cannot be translated into a stage of scope {}",
                static_cast<int>(scope));
    step.group.first = global(scope, rank, step.group.first);
    if (step.kind == StepKind::kMulticast)
      step.to.lane += first_lane(*place.stage, step.group.first);
  }

  void translate(Step& step, Rank rank, const StageLane& place) const {
    translate(step.source, rank);
    translate(step.target, rank);
    if (receives(step.kind) && step.kind != StepKind::kReceiveAny)
      step.from = translate(step.from, rank, place);
    if (step.kind == StepKind::kMulticast || step.kind == StepKind::kSwitchReduce) {
      translate_group(step, rank, place);
    } else if (sends(step.kind)) {
      step.to = translate(step.to, rank, place);
    }
    if (step.wait.lane >= 0) {
      // The wait counts only steps of the stage, so add the nops that come before them.
      if (step.wait.count > 0) step.wait.count += place.lanes_before;
      step.wait.lane += place.first_lane;
    }
  }

  StageGroup group_;
  std::int64_t elements_;
  std::vector<Stage> stages_;
};

}  // namespace

std::unique_ptr<Schedule> in_stages(const StageGroup& group, std::int64_t elements,
                                    std::vector<Stage> stages) {
  return std::make_unique<Stages>(group, elements, std::move(stages));
}

}  // namespace tutti::core
