#include "gui/model/run_plan.h"

#include <map>

#include <fmt/format.h>

namespace tutti::gui {

using core::Error;
using core::Lane;
using core::Rank;
using core::Step;

core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace, const core::Library& library) {
  const core::RunInfo& run = trace.run();
  if (run.scenario_text.empty()) return tl::make_unexpected(Error::request("the timeline does not hold its scenario"));
  auto scenario = core::read_scenario(run.scenario_text, run.scenario_file, library);
  if (!scenario) return tl::make_unexpected(scenario.error());
  const std::vector<core::Pack>& packs = scenario->plan.packs;
  bool same = packs.size() == run.packs.size();
  for (std::size_t p = 0; same && p < packs.size(); ++p) same = packs[p].collective.bytes() == run.packs[p].bytes;
  if (!same) {
    return tl::make_unexpected(
        Error::request(run.scenario_file + ": the files that it names have changed since: its packs are others now"));
  }
  return std::make_shared<const core::Scenario>(std::move(*scenario));
}

Senders::Senders(const core::Schedule& schedule) {
  std::vector<Rank> ranks;
  for (Rank r = 0; r < schedule.ranks(); ++r) {
    first_lane_.push_back(ranks.size());
    ranks.insert(ranks.end(), static_cast<std::size_t>(schedule.lanes(r)), r);
  }
  first_lane_.push_back(ranks.size());
  const auto number = [this](Rank rank, Lane lane) {
    return first_lane_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(lane);
  };
  // What each lane sends to each, in order: the k-th receive takes the k-th message.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> sent;
  const auto each_step = [&](auto what) {
    for (std::size_t n = 0; n < ranks.size(); ++n) {
      const Lane lane = static_cast<Lane>(n - first_lane_[static_cast<std::size_t>(ranks[n])]);
      for (std::int64_t i = 0; i < schedule.steps(ranks[n], lane); ++i)
        what(n, i, schedule.step(ranks[n], lane, i), ranks[n]);
    }
  };
  each_step([&](std::size_t n, std::int64_t i, const Step& step, Rank rank) {
    if (step.kind == core::StepKind::kMulticast) {
      for (std::int32_t g = 0; g < step.group.count; ++g) {
        if (step.group.at(g) != rank) sent[{n, number(step.group.at(g), step.to.lane)}].push_back(i);
      }
    } else if (sends(step.kind)) {
      sent[{n, number(step.to.rank(rank, schedule.ranks()), step.to.lane)}].push_back(i);
    }
  });
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> taken;
  by_lane_.resize(ranks.size());
  each_step([&](std::size_t n, std::int64_t, const Step& step, Rank rank) {
    StepOfLane sender;
    if (receives(step.kind) && step.kind != core::StepKind::kReceiveAny) {
      const Rank from = step.from.rank(rank, schedule.ranks());
      const std::pair connection{number(from, step.from.lane), n};
      const std::vector<std::int64_t>& messages = sent[connection];
      const std::size_t k = taken[connection]++;
      if (k < messages.size()) sender = {from, step.from.lane, messages[k]};
    }
    by_lane_[n].push_back(sender);
  });
}

StepOfLane Senders::of(Rank rank, Lane lane, std::int64_t index) const {
  if (rank < 0 || static_cast<std::size_t>(rank) + 1 >= first_lane_.size() || lane < 0) return {};
  const std::size_t number = first_lane_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(lane);
  if (number >= first_lane_[static_cast<std::size_t>(rank) + 1]) return {};
  const std::vector<StepOfLane>& steps = by_lane_[number];
  return index >= 0 && static_cast<std::size_t>(index) < steps.size() ? steps[static_cast<std::size_t>(index)]
                                                                      : StepOfLane{};
}

}  // namespace tutti::gui
