// Changes and describes the NCCL times that assign_times.cpp has put into a plan. A plan has times
// for whole collectives, or for the collectives inside workers that are parts of them. Every
// function handles both. Times are shared and constant, so a changed time is a new object. If packs
// are fused at run time, an object computes times on request. To get one end of the error bands,
// the object that computes times is wrapped in another one.

#include "core/scenario/nccl_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/nccl/collective_time.h"
#include "core/nccl/collnet.h"
#include "core/nccl/newest_release.h"
#include "core/scenario/scenario.h"
#include "core/strategy/collective_parts.h"

namespace tutti::core {
namespace {

/// Calls `visit` once with every collective of the plan.
template <class PlanOrNot, class Visit>
void visit_collectives(PlanOrNot& plan, Visit visit) {
  // In a trace, several packs share a collective, so visited collectives are skipped.
  std::set<CollectiveId> visited;
  const auto visit_once = [&](CollectiveId id) {
    if (visited.insert(id).second) visit(plan.collectives[id].first);
  };
  for (const auto& pack : plan.packs) visit_once(pack.collective);
  for (const auto& exchange : plan.exchanges) visit_once(exchange.collective);
}

std::shared_ptr<const nccl::CollectiveTime> at_band_end(nccl::CollectiveTime time, BandEnd end) {
  const double factor = end == BandEnd::kLow ? time.band.low : time.band.high;
  for (Time* part : {&time.launch, &time.delay, &time.work, &time.links, &time.cards})
    *part = Time(std::llround(static_cast<double>(part->count()) * factor));
  time.time.transfer *= factor;
  return std::make_shared<const nccl::CollectiveTime>(std::move(time));
}

std::shared_ptr<const CollectiveParts> as_rings(CollectiveParts parts) {
  parts.timed = false;
  for (CollectivePart& part : parts.all) part.collective.nccl = nullptr;
  return std::make_shared<const CollectiveParts>(std::move(parts));
}

std::shared_ptr<const CollectiveParts> at_band_end(CollectiveParts parts, BandEnd end) {
  for (CollectivePart& part : parts.all) {
    if (part.collective.nccl) part.collective.nccl = at_band_end(*part.collective.nccl, end);
  }
  return std::make_shared<const CollectiveParts>(std::move(parts));
}

/// Returns the times of another CollectiveTimes object, each moved to one end of its error band.
class TimesAtBandEnd : public CollectiveTimes {
 public:
  TimesAtBandEnd(std::shared_ptr<const CollectiveTimes> usual, BandEnd end)
      : usual_(std::move(usual)), end_(end) {}

  [[nodiscard]] Known of(const Collective& collective) const override {
    Known known = usual_->of(collective);
    if (known.whole) known.whole = at_band_end(*known.whole, end_);
    if (known.parts) known.parts = at_band_end(*known.parts, end_);
    return known;
  }
  [[nodiscard]] bool only_inside_workers() const override { return usual_->only_inside_workers(); }

 private:
  std::shared_ptr<const CollectiveTimes> usual_;
  BandEnd end_;
};

}  // namespace

void set_nccl_channels(nccl::Settings& settings, std::optional<int> channels) {
  if (!settings.min_channels) settings.min_channels = channels;
  if (!settings.max_channels) settings.max_channels = channels;
}

void simulate_as_rings(Scenario& scenario) {
  scenario.run.nccl = NcclModel::kRings;
  scenario.why_rings.clear();
  visit_collectives(scenario.plan, [](Collective& collective) {
    collective.nccl = nullptr;
    if (timed_parts(collective)) collective.parts = as_rings(*collective.parts);
  });
  scenario.plan.collective_times = nullptr;
  scenario.predictors.clear();
}

bool take_band_end(Scenario& scenario, BandEnd end) {
  bool any = false;
  visit_collectives(scenario.plan, [&](Collective& collective) {
    any = any || collective.nccl || timed_parts(collective);
    if (collective.nccl) collective.nccl = at_band_end(*collective.nccl, end);
    if (timed_parts(collective)) collective.parts = at_band_end(*collective.parts, end);
  });
  auto& times = scenario.plan.collective_times;
  if (!times) return any;
  times = std::make_shared<const TimesAtBandEnd>(std::move(times), end);
  return true;
}

std::vector<std::shared_ptr<const nccl::CollectiveTime>> nccl_times(const Collective& collective) {
  std::vector<std::shared_ptr<const nccl::CollectiveTime>> times;
  if (collective.nccl) times.push_back(collective.nccl);
  if (!timed_parts(collective)) return times;
  for (const CollectivePart& part : collective.parts->all) {
    if (part.collective.nccl) times.push_back(part.collective.nccl);
  }
  return times;
}

std::string describe_nccl(const Collective& collective) {
  if (collective.nccl) return describe(*collective.nccl);
  std::string text;
  if (!timed_parts(collective)) return text;
  for (const CollectivePart& part : collective.parts->all) {
    if (!part.inside_workers) continue;
    text += fmt::format("{}{} by {}", text.empty() ? "inside workers " : " and ",
                        to_string(part.collective.kind), describe(*part.collective.nccl));
  }
  return text;
}

std::string capped_at(const Collective& collective) {
  for (const auto& time : nccl_times(collective)) {
    if (!time->time.capped_at.empty()) return time->time.capped_at;
  }
  return "";
}

std::string nccl_note(const std::vector<const nccl::CollectiveTime*>& times,
                      std::string_view where) {
  if (times.empty()) return "";
  std::map<std::string, int> choices;
  nccl::ErrorBand widest;
  for (const nccl::CollectiveTime* const time : times) {
    ++choices[describe(*time)];
    widest.low = std::min(widest.low, time->band.low);
    widest.high = std::max(widest.high, time->band.high);
  }
  constexpr std::size_t kFew = 4;
  std::string which;
  for (const auto& [choice, count] : choices) {
    if (choices.size() > kFew) break;
    which += fmt::format("{}{}", which.empty() ? "" : "; ", choice);
    if (choices.size() > 1) which += fmt::format(" ({})", count);
  }
  if (choices.size() > kFew)
    which = fmt::format(
        "one of {} combinations of algorithm, protocol and channels for each collective",
        choices.size());
  const bool by_network =
      std::any_of(times.begin(), times.end(), [](const nccl::CollectiveTime* time) {
        return time->choice && nccl::by_network(time->choice->algorithm, time->communicator->nodes);
      });
  const bool calibrated =
      std::all_of(times.begin(), times.end(),
                  [](const nccl::CollectiveTime* time) { return time->calibrated; });
  if (calibrated)
    return fmt::format(
        "NCCL {} would choose{} {}. The predicted times are corrected by measurements of this "
        "cluster (nccl_calibration): 80 % of measured times are expected between {:.2f} and {:.2f} "
        "times the prediction",
        nccl::describe(times.front()->version), where, which, widest.low, widest.high);
  return fmt::format(
      "NCCL {} would choose{} {}. On systems that were not used to fit the model, 80 % of measured "
      "times were between {:.2f} and {:.2f} times the prediction{}",
      nccl::describe(times.front()->version), where, which, widest.low, widest.high,
      by_network ? ". The network is assumed to reduce in its switches (SHARP), with published "
                   "parameters that Tutti did not fit"
                 : "");
}

std::string capped_note(const std::vector<const nccl::CollectiveTime*>& times) {
  const auto capped = std::count_if(times.begin(), times.end(),
                                    [](const auto* t) { return !t->time.capped_at.empty(); });
  if (capped == 0) return "";
  const auto first = std::find_if(times.begin(), times.end(),
                                  [](const auto* t) { return !t->time.capped_at.empty(); });
  return fmt::format(
      "the model predicted a time below the lower bound for {} of {} NCCL collectives (the time "
      "that {} needs for the bytes of the collective), so these times were raised to the bound "
      "(capped_at_bound). "
      "The machine file may have a link that is too slow, or a calibration may contain times that "
      "the links do not allow; otherwise, the model is wrong: please report this with the scenario",
      capped, times.size(), (*first)->time.capped_at);
}

std::vector<std::string> nccl_notes(const Scenario& scenario) {
  std::vector<std::string> notes = scenario.nccl_values;
  if (!scenario.why_rings.empty()) {
    notes.push_back(
        fmt::format("NCCL's collectives are simulated as rings over NCCL's channels, because "
                    "NCCL's choices and times are unknown for this scenario: {}",
                    scenario.why_rings));
  }
  // With fused packs, NCCL's choice and its time are only known at run time.
  if (scenario.plan.fuses()) return notes;
  std::vector<const nccl::CollectiveTime*> whole, inside;
  visit_collectives(scenario.plan, [&](const Collective& collective) {
    for (const auto& time : nccl_times(collective))
      (collective.nccl ? whole : inside).push_back(time.get());
  });
  for (std::string note : {nccl_note(whole), nccl_note(inside, " inside workers"),
                           capped_note(whole), capped_note(inside)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace tutti::core
