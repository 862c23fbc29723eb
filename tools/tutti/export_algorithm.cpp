#include "tools/tutti/export_algorithm.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "core/custom/custom_algorithm.h"
#include "core/custom/msccl.h"
#include "core/custom/mscclpp/mscclpp.h"
#include "core/lowering/plan.h"
#include "core/lowering/reduction_scope.h"
#include "core/strategy/collective.h"
#include "core/text/report.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {
namespace {

using core::Collective;
using core::Error;
using core::Expected;
using core::Lane;
using core::ProblemCode;
using core::Range;
using core::Rank;
using core::Schedule;
using core::Step;

/// Returns true if the schedule `large` is the schedule `small` with all offsets and lengths
/// multiplied by `factor`.
bool is_scaled(const Schedule& small, const Schedule& large, std::int64_t factor) {
  const auto scaled = [factor](const Range& a, const Range& b) {
    return a.buffer == b.buffer && a.offset * factor == b.offset && a.count * factor == b.count;
  };
  const std::int32_t ranks = small.ranks();
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (small.lanes(rank) != large.lanes(rank)) return false;
    for (Lane lane = 0; lane < small.lanes(rank); ++lane) {
      if (small.steps(rank, lane) != large.steps(rank, lane)) return false;
      for (std::int64_t i = 0; i < small.steps(rank, lane); ++i) {
        const Step a = small.step(rank, lane, i);
        const Step b = large.step(rank, lane, i);
        const bool same =
            a.kind == b.kind && a.from.rank(rank, ranks) == b.from.rank(rank, ranks) &&
            a.to.rank(rank, ranks) == b.to.rank(rank, ranks) && a.from.lane == b.from.lane &&
            a.to.lane == b.to.lane && a.wait.lane == b.wait.lane && a.wait.count == b.wait.count &&
            a.inputs == b.inputs && a.stride * factor == b.stride;
        if (!same || !scaled(a.source, b.source) || !scaled(a.target, b.target)) return false;
      }
    }
  }
  return true;
}

/// Returns numbers of elements to try. With the right number, every chunk of the schedule has one
/// element.
std::vector<std::int64_t> candidates(const core::Scenario& scenario, const Collective& planned) {
  if (const auto& custom = scenario.strategy.custom) {
    const auto even = custom->made->even_elements();
    return even ? std::vector<std::int64_t>{*even} : std::vector<std::int64_t>{};
  }
  const std::int64_t ranks = planned.contributors;
  const std::int64_t lanes = planned.schedule->lanes(0);
  if (has_blocks(planned.kind)) return {ranks, ranks * lanes};
  return {1, ranks, ranks * lanes};
}

/// Returns the first pack's schedule, with one element per chunk. ERRORS: no number of elements
/// gives chunks of one element.
Expected<std::string> algorithm_text(const core::Scenario& scenario, const std::string& to) {
  const bool plan = to == "mscclpp";
  const std::string format = plan ? "a plan of MSCCL++" : "MSCCL's XML";
  const auto wrong = [&](ProblemCode code, const std::string& why) {
    return tl::make_unexpected(
        Error::request({code, "--to"}, fmt::format("--to {}: {}", to, why), {scenario.file, 0, 0}));
  };
  if (scenario.plan.packs.empty())
    return wrong(ProblemCode::kMissing, "the scenario has no pack to export");
  const core::ReductionScope who = core::reduction_scope(scenario.strategy, scenario.plan);
  const core::Pack& pack = scenario.plan.packs.front();
  const Collective& planned = scenario.plan.collective(pack);
  if (who != core::ReductionScope::kAllReplicas || pack.payload.reduction.has_value())
    return wrong(ProblemCode::kUnsupported, "only collectives of all replicas can be exported");
  if (planned.schedule->ranks() != planned.contributors)
    return wrong(ProblemCode::kUnsupported,
                 fmt::format("CPUs take part in the algorithm, but {} supports only GPUs; use an "
                             "algorithm that needs only GPUs",
                             format));
  const core::Strategy strategy = strategy_of(scenario.strategy, pack);
  const auto made = [&](std::int64_t elements) {
    return core::make_collective(*scenario.cluster, strategy, planned.type, elements, pack.turn);
  };
  for (const std::int64_t unit : candidates(scenario, planned)) {
    const Collective small = made(unit);
    const std::int64_t factor = std::max<std::int64_t>(2, (planned.elements + unit - 1) / unit);
    const Collective large = made(unit * factor);
    if (small.elements != unit || !is_scaled(*small.schedule, *large.schedule, factor)) continue;
    const std::string name = strategy.custom ? strategy.custom->text->name()
                                             : std::string(to_string(strategy.algorithm));
    if (plan)
      return core::custom::to_mscclpp(*small.schedule, small.contract(), name,
                                      scenario.cluster->replicas_per_worker());
    return core::custom::to_msccl(*small.schedule, small.contract(), name);
  }
  return wrong(ProblemCode::kUnsupported,
               fmt::format("the algorithm's steps depend on the number of bytes, but a file for {} "
                           "has the same steps for all sizes",
                           format));
}

}  // namespace

int export_algorithm(const ExportOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  ScenarioOptions from;
  from.file = options.timeline;
  const auto scenario = load_scenario(from, environment);
  if (!scenario) return report(scenario.error());
  const auto text = algorithm_text(*scenario, options.to);
  if (!text) return report(text.error());
  if (options.output == "-") return print_out(*text);
  const std::string path = options.output.empty()
                               ? std::filesystem::path(options.timeline)
                                     .replace_extension(options.to == "msccl" ? ".xml" : ".json")
                                     .string()
                               : options.output;
  auto file = OutputFile::create(path, {options.timeline});
  if (!file) return report(file.error());
  file->stream() << *text;
  if (const auto kept = file->keep(); !kept) return report(kept.error());
  if (*format == Format::kText) {
    print_note(fmt::format("written: {}\n", path));
    return kDone;
  }
  return print_out(result_json(
      core::Report{{"scenario", options.timeline}, {"to", options.to}, {"written", path}}));
}

}  // namespace tutti::tools
