#include "sim/folding/folded_schedule.h"

#include "core/base/check.h"

namespace tutti::sim {
namespace {

using core::Lane;
using core::Peer;
using core::Rank;
using core::Renumbering;
using core::Step;
using core::StepKind;

class Folded : public core::Schedule {
 public:
  Folded(std::shared_ptr<const core::Schedule> schedule, Renumbering by, std::int32_t workers,
         std::int32_t per_worker)
      : schedule_(std::move(schedule)),
        by_(by),
        workers_(workers),
        per_worker_(per_worker),
        all_(schedule_->ranks()),
        hosts_(all_ > workers * per_worker) {
    TUTTI_CHECK(workers > 1 && schedule_->same_everywhere(by, per_worker),
                "{} workers of {} ranks are not identical", workers, per_worker);
  }

  [[nodiscard]] std::int32_t ranks() const override { return per_worker_ + (hosts_ ? 1 : 0); }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return schedule_->lanes(unfolded(rank));
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return schedule_->steps(unfolded(rank), lane);
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Rank own = unfolded(rank);
    Step step = schedule_->step(own, lane, index);
    fold(step, own);
    return step;
  }
  [[nodiscard]] core::IdenticalSteps identical_from(Rank rank, Lane lane,
                                                    std::int64_t index) const override {
    return schedule_->identical_from(unfolded(rank), lane, index);
  }
  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    const Rank own = unfolded(rank);
    schedule_->visit_ways(own, lane, [&](const Step& way) {
      Step step = way;
      fold(step, own);
      visit(step);
    });
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return schedule_->scratch(unfolded(rank));
  }
  [[nodiscard]] int credits(Rank rank, Lane lane) const override {
    return schedule_->credits(unfolded(rank), lane);
  }
  [[nodiscard]] core::Engine engine(Rank rank, Lane lane) const override {
    return schedule_->engine(unfolded(rank), lane);
  }

 private:
  /// Returns the rank in the original schedule that corresponds to `rank` of the folded schedule.
  [[nodiscard]] Rank unfolded(Rank rank) const {
    return rank < per_worker_ ? rank : workers_ * per_worker_;
  }

  struct FoldedRank {
    std::int32_t worker = 0;
    Rank folded = 0;
  };
  [[nodiscard]] FoldedRank place_of(Rank rank) const {
    const Rank replicas = workers_ * per_worker_;
    if (rank >= replicas) return {rank - replicas, per_worker_};
    // Most peers are in the same or in the next worker. Handle these cases without divisions,
    // because divisions would dominate the cost of a step.
    if (rank < per_worker_) return {0, rank};
    if (rank < 2 * per_worker_) return {1, rank - per_worker_};
    const Rank first_of_last = replicas - per_worker_;
    if (rank >= first_of_last) return {workers_ - 1, rank - first_of_last};
    return {rank / per_worker_, rank % per_worker_};
  }

  void fold(Step& step, Rank own) const {
    if (step.kind == StepKind::kMulticast || step.kind == StepKind::kSwitchReduce) {
      // Multicasts and in-switch reductions stay inside the worker (PathTable), whose ranks have
      // the same numbers in the folded schedule. The last rank may be a host.
      TUTTI_CHECK(
          step.group.count == 0 || place_of(step.group.at(step.group.count - 1)).worker == 0,
          "a multicast from rank {} leaves its worker", own);
    } else if (core::sends(step.kind)) {
      step.to = peer(step.to, own, true);
    }
    if (core::receives(step.kind) && step.kind != StepKind::kReceiveAny)
      step.from = peer(step.from, own, false);
  }

  /// Returns the peer's rank within its worker, and the distance to that worker.
  [[nodiscard]] Peer peer(const Peer& peer, Rank own, bool sent_to) const {
    const FoldedRank place = place_of(peer.rank(own, all_));
    Peer folded = Peer::at(place.folded, peer.lane);
    // A message from worker w to worker 0 travels over the distance (workers - w). In an exchange,
    // the distance is the same in both directions.
    folded.away = sent_to || place.worker == 0 || by_ == Renumbering::kExchange
                      ? place.worker
                      : workers_ - place.worker;
    return folded;
  }

  std::shared_ptr<const core::Schedule> schedule_;
  Renumbering by_;
  std::int32_t workers_;
  std::int32_t per_worker_;
  std::int32_t all_;
  bool hosts_;
};

}  // namespace

std::unique_ptr<core::Schedule> folded(std::shared_ptr<const core::Schedule> schedule,
                                       Renumbering by, std::int32_t workers,
                                       std::int32_t per_worker) {
  return std::make_unique<Folded>(std::move(schedule), by, workers, per_worker);
}

}  // namespace tutti::sim
