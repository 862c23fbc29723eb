#include "gui/trace/run_plan.h"

#include <vector>

namespace tutti::gui {

using core::Error;

core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace,
                                                                  const core::Library& library) {
  const core::RunInfo& run = trace.run();
  if (run.scenario_text.empty())
    return tl::make_unexpected(Error::request("the timeline does not contain its scenario"));
  auto scenario = core::read_scenario(run.scenario_text, run.scenario_file, library);
  if (!scenario) return tl::make_unexpected(scenario.error());
  const std::vector<core::Pack>& packs = scenario->plan.packs;
  bool same = packs.size() == run.packs.size();
  for (std::size_t p = 0; same && p < packs.size(); ++p)
    same = scenario->plan.collective(packs[p]).bytes() == run.packs[p].bytes;
  if (!same) {
    return tl::make_unexpected(
        Error::request(run.scenario_file + ": the files that the scenario names have changed since "
                                           "the run, so its packs are different"));
  }
  return std::make_shared<const core::Scenario>(std::move(*scenario));
}

}  // namespace tutti::gui
