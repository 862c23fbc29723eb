#include "gui/traffic/topology_moment.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/format.h"
#include "gui/traffic/link_load.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr std::size_t kKeptReplays = 6;

/// Shortens "chunk 3" to "3", and "chunks 3 to 5" to "3-5".
std::string short_name(const PackReplay& replay, const core::Range& range) {
  std::string name = replay.name_of(range.offset, range.count);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"part of ", ""},
                                 {"chunks ", ""},
                                 {"chunk ", ""},
                                 {" to ", "-"}}) {
    if (const std::size_t at = name.find(from); at != std::string::npos)
      name.replace(at, from.size(), to);
  }
  return name;
}

}  // namespace

TopologyPlayer::TopologyPlayer(std::shared_ptr<const Trace> trace,
                               std::shared_ptr<const core::Scenario> plan,
                               std::shared_ptr<const Traffic> traffic, const Topology& topology)
    : trace_(std::move(trace)),
      plan_(std::move(plan)),
      traffic_(std::move(traffic)),
      topology_(topology) {
  packs_ = trace_->packs();
  std::stable_sort(packs_.begin(), packs_.end(),
                   [](const core::PackRecord& a, const core::PackRecord& b) {
                     return a.first_start < b.first_start;
                   });
  Time last;
  for (const core::PackRecord& pack : packs_) last_end_.push_back(last = std::max(last, pack.end));
}

std::vector<PackOfStep> TopologyPlayer::in_flight(Time t) const {
  std::vector<PackOfStep> found;
  const auto after = std::upper_bound(
      packs_.begin(), packs_.end(), t,
      [](Time wanted, const core::PackRecord& pack) { return wanted < pack.first_start; });
  for (auto i = static_cast<std::size_t>(after - packs_.begin()); i > 0 && last_end_[i - 1] > t;
       --i) {
    if (packs_[i - 1].end > t) found.push_back({packs_[i - 1].step, packs_[i - 1].pack});
  }
  std::reverse(found.begin(), found.end());
  return found;
}

PackReplay* TopologyPlayer::replay_of(const PackOfStep& pack, std::string& words) {
  const auto known = std::find_if(replays_.begin(), replays_.end(), [&](const auto& replay) {
    return replay->step() == pack.step && replay->pack() == pack.pack;
  });
  if (known != replays_.end()) return known->get();
  if (!plan_) {
    return nullptr;  // the caller has given no plan, and knows that
  }
  auto made = PackReplay::of(plan_, traffic_, pack.step, pack.pack);
  if (!made) {
    words = "The contents of devices are unknown: " + made.error().message();
    return nullptr;
  }
  if (replays_.size() == kKeptReplays) replays_.pop_front();
  replays_.push_back(std::move(*made));
  return replays_.back().get();
}

const std::vector<std::size_t>& TopologyPlayer::route(const Transfer& transfer) {
  // Cache routes per staging (which devices forward a message), because packs with different
  // algorithms may have different stagings.
  const auto pack = static_cast<std::size_t>(std::max(0, transfer.pack));
  const bool planned = plan_ && pack < plan_->plan.packs.size();
  const core::Staging staging =
      planned ? plan_->plan.collective(plan_->plan.packs[pack]).staging : core::Staging::kDirect;
  const auto [known, fresh] = routes_.try_emplace({transfer.from, transfer.to, staging});
  if (fresh) known->second = topology_.route(transfer.from, transfer.to, staging);
  return known->second;
}

TopologyMoment TopologyPlayer::at(Time t, std::optional<PackOfStep> wanted) {
  TopologyMoment moment;
  moment.at = t;
  if (topology_.has_links()) {
    for (const Topology::Link& link : topology_.links())
      moment.loads.push_back(link.record ? load_at(trace_->links()[*link.record], t) : 0);
  }
  moment.in_flight = in_flight(t);
  if (!moment.in_flight.empty()) {
    const auto looked_at =
        wanted ? std::find(moment.in_flight.begin(), moment.in_flight.end(), *wanted)
               : moment.in_flight.begin();
    moment.pack = looked_at == moment.in_flight.end() ? moment.in_flight.front() : *looked_at;
  }
  replay_ = moment.pack ? replay_of(*moment.pack, moment.words) : nullptr;
  moment.held.resize(topology_.nodes().size());
  if (replay_) {
    replay_->show(t);
    moment.contributors = replay_->contributors();
    moment.elements = replay_->collective().elements;
    for (std::size_t n = 0; n < topology_.nodes().size(); ++n) {
      const core::Rank rank = replay_->rank(topology_.nodes()[n].device);
      if (rank >= 0) moment.held[n] = replay_->held(rank);
    }
  }
  for (const Transfer& transfer : traffic_->in_flight(t)) {
    const auto from = topology_.node_of_device(transfer.from),
               to = topology_.node_of_device(transfer.to);
    if (!from || !to || *from == *to) continue;
    TopologyMoment::Flight flight{transfer, route(transfer), *from, *to, 0, false, false, ""};
    flight.progress = transfer.progress(t);
    flight.waits = transfer.waits(t);
    flight.of_pack =
        moment.pack && transfer.pack == moment.pack->pack && transfer.step == moment.pack->step;
    const auto range = replay_ && flight.of_pack ? replay_->range_of(transfer) : std::nullopt;
    if (range) flight.chunk = short_name(*replay_, *range);
    moment.flights.push_back(std::move(flight));
  }
  return moment;
}

std::string TopologyPlayer::words_of(const TopologyMoment& moment, std::size_t node) const {
  const Topology::Node& own = topology_.nodes()[node];
  if (!moment.pack) return fmt::format("{}: no pack is in flight.", own.full_name());
  const std::string pack = fmt::format("pack {} of step {}", moment.pack->pack, moment.pack->step);
  const std::vector<PackReplay::Piece>& held = moment.held[node];
  if (held.empty() || !replay_) {
    if (!own.is_device() || !moment.words.empty()) return own.full_name();
    return fmt::format("{} does not take part in {}.", own.full_name(), pack);
  }
  std::int64_t complete = 0, own_only = 0, nothing = 0;
  std::int32_t least = moment.contributors, most = 0;
  for (const PackReplay::Piece& piece : held) {
    if (piece.contributions == moment.contributors) {
      complete += piece.count;
    } else if (piece.contributions == 0) {
      nothing += piece.count;
    } else if (piece.contributions == 1) {
      own_only += piece.count;
    } else {
      least = std::min(least, piece.contributions);
      most = std::max(most, piece.contributions);
    }
  }
  const auto share = [&](std::int64_t part) {
    return core::show_share(static_cast<double>(part) /
                            static_cast<double>(std::max<std::int64_t>(1, moment.elements)));
  };
  std::vector<std::string> parts;
  if (complete > 0)
    parts.push_back(
        fmt::format("{} reduced over all {} ranks", share(complete), moment.contributors));
  if (const std::int64_t between = moment.elements - complete - own_only - nothing; between > 0) {
    parts.push_back(least == most ? fmt::format("{} over {} of {} ranks", share(between), least,
                                                moment.contributors)
                                  : fmt::format("{} over {} to {} of {} ranks", share(between),
                                                least, most, moment.contributors));
  }
  if (own_only > 0) parts.push_back(share(own_only) + " not reduced yet");
  if (nothing > 0) parts.push_back(share(nothing) + " not received yet");
  return fmt::format("{} holds these parts of {}: {}.", own.full_name(), pack,
                     fmt::join(parts, ", "));
}

Time initial_time(const Trace& trace) {
  const core::PackRecord* best = nullptr;
  for (const core::PackRecord& pack : trace.packs()) {
    if (!best || pack.step > best->step ||
        (pack.step == best->step && pack.end - pack.last_start > best->end - best->last_start))
      best = &pack;
  }
  return best ? best->last_start + Time((best->end - best->last_start).count() / 2) : Time();
}

}  // namespace tutti::gui
