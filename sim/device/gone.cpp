#include "sim/device/gone.h"

#include <map>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/scenario/conditions.h"

namespace tutti::sim {

std::string lost_worker_text(const core::Scenario& scenario) {
  const core::Conditions& conditions = scenario.run.conditions;
  std::map<core::LinkId, core::LinkChange> last;
  std::string text;
  for (const core::GoneWorker& gone : conditions.gone)
    text += (text.empty() ? "" : ", ") + core::describe(gone);
  for (const core::LinkChange& change : conditions.links) last[change.link] = change;
  for (const auto& [link, change] : last) {
    if (change.share_ppm > 0) continue;
    text += fmt::format("{}link {} is dead from {} on", text.empty() ? "" : ", ",
                        scenario.cluster->link_name(link), core::show(change.at));
  }
  return text;
}

}  // namespace tutti::sim
