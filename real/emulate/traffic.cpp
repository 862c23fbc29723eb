#include "real/emulate/traffic.h"

#include <algorithm>

namespace tutti::real {

using core::Rank;
using core::Step;
using core::StepKind;

Traffic::Traffic(const core::Plan& plan, core::PathTable& paths,
                 const std::function<bool(Rank)>& is_local) {
  for (std::size_t p = 0; p < plan.packs.size(); ++p) {
    const core::Collective& collective = plan.collective(plan.packs[p]);
    const core::Schedule& schedule = *collective.schedule;
    const std::int64_t item = core::size_of(collective.type).count();
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
      for (core::Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
        for (std::int64_t s = 0; s < schedule.steps(rank, lane); ++s) {
          const Step step = schedule.step(rank, lane, s);
          if (!core::sends(step.kind)) continue;
          const std::int64_t bytes =
              (core::receives(step.kind) ? step.target : step.source).count * item;
          Channel channel{{0, static_cast<std::uint32_t>(p)}, rank, lane, 0, step.to.lane};
          const bool to_many = step.kind == StepKind::kMulticast;
          for (std::int32_t i = 0; i < (to_many ? step.group.count : 1); ++i) {
            channel.to = to_many ? step.group.at(i) : step.to.rank(rank, schedule.ranks());
            if (!to_many || channel.to != rank) add(collective, channel, bytes, paths, is_local);
          }
        }
      }
    }
  }
}

void Traffic::add(const core::Collective& collective, const Channel& channel, std::int64_t bytes,
                  core::PathTable& paths, const std::function<bool(Rank)>& is_local) {
  const core::Schedule& schedule = *collective.schedule;
  const std::int32_t path =
      paths.unicast(collective.group.device(channel.from), collective.group.device(channel.to),
                    collective.staging, schedule.engine(channel.from, channel.from_lane));
  for (const core::PathHop& hop : paths.path(path).hops) {
    const core::Bytes all(bytes);
    const core::Time moving = hop.host ? hop.host->moving(all) + hop.host->per_message
                                       : core::transfer_time(all, hop.rate);
    in_turn_ = core::later(in_turn_, std::min(moving, core::kLongestDuration));
    in_turn_ = core::later(in_turn_, std::min(hop.latency, core::kLongestDuration));
  }
  if (!is_local(channel.from) && !is_local(channel.to)) return;
  Connection& connection = connections_[channel];
  ++connection.messages;
  connection.most_bytes = std::max(connection.most_bytes, bytes);
  connection.slots = schedule.credits(channel.to, channel.to_lane);
}

const Traffic::Connection* Traffic::find(const Channel& channel) const {
  Channel key = channel;
  key.collective.step = 0;
  const auto found = connections_.find(key);
  return found == connections_.end() ? nullptr : &found->second;
}

}  // namespace tutti::real
