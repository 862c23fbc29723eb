#include "real/asynchronous/in_cluster.h"

#include "core/base/check.h"

namespace tutti::real {

using core::Lane;
using core::Peer;
using core::Rank;
using core::Step;
using core::StepKind;

namespace {

class InCluster : public core::Schedule {
 public:
  InCluster(std::shared_ptr<const core::Schedule> of_group, GroupRanks ranks, std::int32_t all)
      : of_group_(std::move(of_group)), ranks_(ranks), all_(all) {}

  [[nodiscard]] std::int32_t ranks() const override { return all_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return takes_part(rank) ? of_group_->lanes(own(rank)) : 0;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return of_group_->steps(own(rank), lane);
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step = of_group_->step(own(rank), lane, index);
    TUTTI_CHECK(step.kind != StepKind::kMulticast && step.kind != StepKind::kSwitchReduce,
                "a multicast in a group");
    step.from = peer(step.from, own(rank));
    step.to = peer(step.to, own(rank));
    return step;
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return takes_part(rank) ? of_group_->scratch(own(rank)) : 0;
  }
  [[nodiscard]] int credits(Rank rank, Lane lane) const override {
    return of_group_->credits(own(rank), lane);
  }
  [[nodiscard]] core::Engine engine(Rank rank, Lane lane) const override {
    return of_group_->engine(own(rank), lane);
  }
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const override {
    return of_group_->arrival_slot(own(rank), lane, own(sender));
  }

 private:
  [[nodiscard]] Rank own(Rank rank) const { return ranks_.to_group(rank); }
  [[nodiscard]] bool takes_part(Rank rank) const {
    return own(rank) >= 0 && own(rank) < of_group_->ranks();
  }
  [[nodiscard]] Peer peer(const Peer& p, Rank rank) const {
    return Peer::at(ranks_.to_cluster(p.rank(rank, of_group_->ranks())), p.lane);
  }

  std::shared_ptr<const core::Schedule> of_group_;
  GroupRanks ranks_;
  std::int32_t all_;
};

class OneReports : public core::Schedule {
 public:
  OneReports(std::int32_t ranks, Rank from, Rank to) : ranks_(ranks), from_(from), to_(to) {}

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return rank == from_ || rank == to_ ? 1 : 0;
  }
  [[nodiscard]] std::int64_t steps(Rank, Lane) const override { return 1; }
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t) const override {
    Step step;
    step.kind = rank == from_ ? StepKind::kSend : StepKind::kReceive;
    (rank == from_ ? step.to : step.from) = Peer::at(rank == from_ ? to_ : from_, 0);
    return step;
  }
  [[nodiscard]] core::Engine engine(Rank, Lane) const override { return core::Engine::kCpu; }

 private:
  std::int32_t ranks_;
  Rank from_, to_;
};

}  // namespace

std::shared_ptr<const core::Schedule> in_cluster(std::shared_ptr<const core::Schedule> of_group,
                                                 GroupRanks ranks, std::int32_t workers) {
  return std::make_shared<InCluster>(std::move(of_group), ranks,
                                     static_cast<std::int32_t>(ranks.partition.replicas) + workers);
}

std::shared_ptr<const core::Schedule> one_reports(std::int32_t ranks, Rank from, Rank to) {
  return std::make_shared<OneReports>(ranks, from, to);
}

}  // namespace tutti::real
