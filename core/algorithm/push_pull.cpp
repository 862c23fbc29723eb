#include "core/algorithm/push_pull.h"

#include "core/base/check.h"

namespace tutti::core {
namespace {

Step send(const Range& what, Rank to, Lane lane) {
  Step step;
  step.kind = StepKind::kSend;
  step.source = step.target = what;
  step.to = Peer::at(to, lane);
  return step;
}

Step receive(const Range& where, Rank from, Lane lane) {
  Step step;
  step.kind = StepKind::kReceive;
  step.source = step.target = where;
  step.from = Peer::at(from, lane);
  return step;
}

/// The host has one lane for each replica.
class Shares : public Schedule {
 public:
  Shares(std::int32_t replicas, std::int64_t elements, Engine replica_engine, bool to_host)
      : replicas_(replicas),
        elements_(elements),
        replica_engine_(replica_engine),
        to_host_(to_host) {
    TUTTI_CHECK(replicas >= 1 && elements >= 0, "{} elements of {} replicas", elements, replicas);
  }

  [[nodiscard]] std::int32_t ranks() const override { return replicas_ + 1; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return is_host(rank) ? replicas_ : 1;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return share_of(replicas_, elements_, is_host(rank) ? lane : rank).count > 0 ? 1 : 0;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t) const override {
    const Rank replica = is_host(rank) ? lane : rank;
    const Range share = share_of(replicas_, elements_, replica);
    const Rank other = is_host(rank) ? replica : replicas_;
    const Lane other_lane = is_host(rank) ? 0 : replica;
    return to_host_ != is_host(rank) ? send(share, other, other_lane)
                                     : receive(share, other, other_lane);
  }
  [[nodiscard]] Engine engine(Rank rank, Lane) const override {
    return is_host(rank) ? Engine::kCpu : replica_engine_;
  }

 private:
  [[nodiscard]] bool is_host(Rank rank) const { return rank == replicas_; }

  std::int32_t replicas_;
  std::int64_t elements_;
  Engine replica_engine_;
  bool to_host_;
};

/// The base class of push and pull, between a server (the root) and the ranks that use it. The root
/// has one lane for each rank that uses it, except itself.
class AtServer : public Schedule {
 public:
  AtServer(std::int32_t ranks, std::int32_t users, Rank root, std::int64_t elements,
           Engine user_engine)
      : ranks_(ranks), users_(users), root_(root), elements_(elements), user_engine_(user_engine) {
    TUTTI_CHECK(users >= 1 && users <= ranks && root >= 0 && root < ranks,
                "{} of {} ranks, root {}", users, ranks, root);
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] Engine engine(Rank rank, Lane) const override {
    return rank == root_ ? Engine::kCpu : user_engine_;
  }

 protected:
  [[nodiscard]] bool is_root(Rank rank) const { return rank == root_; }
  [[nodiscard]] Rank root() const { return root_; }
  [[nodiscard]] bool root_uses() const { return root_ < users_; }
  [[nodiscard]] std::int32_t others() const { return users_ - (root_uses() ? 1 : 0); }
  [[nodiscard]] bool takes_part(Rank rank) const { return rank < users_ || is_root(rank); }
  /// Returns the root's lane that communicates with the rank; other() is the inverse function.
  [[nodiscard]] Lane lane_of(Rank rank) const {
    return root_uses() && rank > root_ ? rank - 1 : rank;
  }
  [[nodiscard]] Rank other(Lane lane) const {
    return root_uses() && lane >= root_ ? lane + 1 : lane;
  }
  [[nodiscard]] Range data() const { return {Buffer::kData, 0, elements_}; }
  static Range nothing() { return {Buffer::kData, 0, 0}; }
  [[nodiscard]] std::int64_t elements() const { return elements_; }

 private:
  std::int32_t ranks_, users_;
  Rank root_;
  std::int64_t elements_;
  Engine user_engine_;
};

/// The root's last lane adds the pushed data.
class Push : public AtServer {
 public:
  using AtServer::AtServer;

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    if (!takes_part(rank)) return 0;
    return is_root(rank) ? others() + 1 : 1;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return is_root(rank) && lane == others() ? others() : 2;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (!is_root(rank))
      return index == 0 ? send(data(), root(), lane_of(rank))
                        : receive(nothing(), root(), lane_of(rank));
    if (lane < others())
      return index == 0 ? receive(arrived(lane), other(lane), 0) : send(nothing(), other(lane), 0);
    Step step;
    step.kind = StepKind::kReduce;
    step.wait = {static_cast<Lane>(index), 1};
    step.source = arrived(index);
    step.target = data();
    step.inputs = 1;
    step.stride = elements();
    step.accumulate = index > 0 || root_uses();
    return step;
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return is_root(rank) ? others() * elements() : 0;
  }

 private:
  [[nodiscard]] Range arrived(std::int64_t number) const {
    return {Buffer::kScratch, number * elements(), elements()};
  }
};

class Pull : public AtServer {
 public:
  using AtServer::AtServer;

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    if (!takes_part(rank)) return 0;
    return is_root(rank) ? others() : 1;
  }
  [[nodiscard]] std::int64_t steps(Rank, Lane) const override { return 2; }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (!is_root(rank))
      return index == 0 ? send(nothing(), root(), lane_of(rank))
                        : receive(data(), root(), lane_of(rank));
    return index == 0 ? receive(nothing(), other(lane), 0) : send(data(), other(lane), 0);
  }
};

}  // namespace

Range share_of(std::int32_t replicas, std::int64_t elements, Rank r) {
  const std::int64_t each = elements / replicas;
  return {Buffer::kData, r * each, r + 1 == replicas ? elements - r * each : each};
}

std::unique_ptr<Schedule> shares_to_host(std::int32_t replicas, std::int64_t elements,
                                         Engine replica_engine) {
  return std::make_unique<Shares>(replicas, elements, replica_engine, true);
}

std::unique_ptr<Schedule> shares_from_host(std::int32_t replicas, std::int64_t elements,
                                           Engine replica_engine) {
  return std::make_unique<Shares>(replicas, elements, replica_engine, false);
}

std::unique_ptr<Schedule> push_to_server(std::int32_t ranks, std::int32_t senders, Rank root,
                                         std::int64_t elements, Engine sender_engine) {
  return std::make_unique<Push>(ranks, senders, root, elements, sender_engine);
}

std::unique_ptr<Schedule> pull_from_server(std::int32_t ranks, std::int32_t askers, Rank root,
                                           std::int64_t elements, Engine asker_engine) {
  return std::make_unique<Pull>(ranks, askers, root, elements, asker_engine);
}

}  // namespace tutti::core
