#include "real/wire/lane_peers.h"

#include <algorithm>

namespace tutti::real {

LanePeers::LanePeers(const core::Scenario& scenario)
    : scenario_(scenario), packs_(scenario.plan.packs.size()) {}

void LanePeers::add(std::int32_t worker, const std::string& device, core::Lane lane,
                    std::int32_t pack, core::TrackId track) {
  tracks_[{pack, Device(worker, device), lane}] = track;
}

LanePeers::PackRanks& LanePeers::ranks_of(std::int32_t pack) {
  std::optional<PackRanks>& ranks = packs_[pack];
  if (ranks) return *ranks;
  const core::Collective& collective = scenario_.plan.collective(scenario_.plan.packs[pack]);
  ranks.emplace();
  for (core::Rank rank = 0; rank < collective.schedule->ranks(); ++rank) {
    const core::PartId part = collective.group.device(rank);
    const Device device(part.worker, scenario_.cluster->part(part).name);
    ranks->rank_of.emplace(device, rank);
    ranks->devices.push_back(device);
  }
  ranks->senders.emplace(*collective.schedule);
  return *ranks;
}

void LanePeers::join(std::int32_t worker, const std::string& device, core::Lane lane,
                     core::Span& span) {
  if (span.pack < 0 || span.kind >= core::SpanKind::kFirstCompute ||
      !core::receives(static_cast<core::StepKind>(span.kind)))
    return;
  const PackRanks& ranks = ranks_of(span.pack);
  const auto rank = ranks.rank_of.find(Device(worker, device));
  if (rank == ranks.rank_of.end()) return;
  const auto sender = ranks.senders->of(rank->second, lane, span.index);
  if (!sender) return;
  const auto track = tracks_.find({span.pack, ranks.devices[sender->rank], sender->lane});
  if (track == tracks_.end()) return;
  span.peer = track->second;
  span.peer_index = sender->step;
}

}  // namespace tutti::real
