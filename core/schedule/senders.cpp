#include "core/schedule/senders.h"

namespace tutti::core {

Senders::Senders(const Schedule& schedule) {
  const std::int32_t ranks = schedule.ranks();
  std::map<Connection, std::size_t> received;
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      const LaneId here(rank, lane);
      for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
        const Step step = schedule.step(rank, lane, i);
        if (step.kind == StepKind::kMulticast) {
          for (std::int32_t g = 0; g < step.group.count; ++g)
            sent_[{here, {step.group.at(g), step.to.lane}}].push_back(i);
        } else if (sends(step.kind)) {
          sent_[{here, {step.to.rank(rank, ranks), step.to.lane}}].push_back(i);
        }
        if (receives(step.kind) && step.kind != StepKind::kReceiveAny) {
          const LaneId from(step.from.rank(rank, ranks), step.from.lane);
          received_[here][i] = {from, received[{from, here}]++};
        }
      }
    }
  }
}

std::optional<Senders::Sender> Senders::of(Rank rank, Lane lane, std::int64_t step) const {
  const auto steps = received_.find({rank, lane});
  if (steps == received_.end()) return std::nullopt;
  const auto receipt = steps->second.find(step);
  if (receipt == steps->second.end()) return std::nullopt;
  const LaneId from = receipt->second.from;
  const auto sent = sent_.find({from, {rank, lane}});
  if (sent == sent_.end() || receipt->second.number >= sent->second.size()) return std::nullopt;
  return Sender{from.first, from.second, sent->second[receipt->second.number]};
}

}  // namespace tutti::core
