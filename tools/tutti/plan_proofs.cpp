// Runs the checker on the schedules of a plan. The checker tracks every element, so a pack of a
// gigabyte is proved at 4099 elements. The number of elements in a proof is odd and fills every
// chunk, and the schedule has the same structure as for the real size. Packs on servers are proved
// at their full size, because the size determines their server. Packs of sparse data or of
// checkpoints are also proved at their full size, because their reductions differ from the
// strategy's reduction. If NCCL would execute a collective, and NCCL's choice can be lowered,
// NCCL's own steps are proved.
//
// A proof that would take minutes is an error, so that an unproved schedule never counts as proved.
// The checker is core/schedule/checker.h, and the checks of task graphs are in
// core/lowering/plan_check.h.

#include "tools/tutti/plan_proofs.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/custom/custom_algorithm.h"
#include "core/lowering/plan_check.h"
#include "core/lowering/reduction_scope.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/lowering/lower.h"
#include "core/schedule/checker.h"
#include "core/strategy/collective_parts.h"
#include "tools/tutti/command.h"

namespace tutti::tools {
namespace {

using core::Collective;
using core::Contract;
using core::Error;
using core::Expected;
using core::Lane;
using core::Pack;
using core::ProblemCode;
using core::Rank;
using core::Scenario;
using core::Schedule;

/// Number of elements for proofs: odd, and large enough to fill every chunk.
constexpr std::int64_t kCheckedElements = 4099;
/// The limits of a proof: the maximum size of the checker's state in words, and the maximum number
/// of steps. A larger proof would take minutes.
constexpr std::int64_t kMaxCheckedWords = std::int64_t{1} << 27;
constexpr std::int64_t kMaxCheckedSteps = 10'000'000;

/// Returns the steps that NCCL executes for `elements` elements of a collective with a known
/// choice. ERRORS: the choice cannot be lowered.
Expected<std::shared_ptr<const Schedule>> lowered(const Collective& planned,
                                                  std::int64_t elements) {
  const core::nccl::CollectiveTime& time = *planned.nccl;
  const core::Cluster& cluster = planned.group.cluster();
  std::vector<std::vector<int>> inside;
  const std::size_t gpus = time.communicator->ranks_of_node();
  for (const core::RingOrder& ring : cluster.machine(0).rings_inside()) {
    if (core::knows_rings(cluster) && ring.gpus.size() == gpus)
      inside.insert(inside.end(), ring.channels, ring.gpus);
  }
  return core::nccl::lower(with_orders(*time.communicator, inside),
                           {planned.kind, time.choice.value_or(core::nccl::Choice{}), planned.type,
                            elements, planned.elements, planned.root});
}

/// The schedule of a collective that NCCL executes only inside workers. The parts inside workers
/// use NCCL's schedule if NCCL's choice can be lowered, and rings otherwise. `words` says which of
/// the two is used.
struct LoweredParts {
  std::shared_ptr<const Schedule> schedule;
  std::string words;
};

/// Makes the schedule of `small`, which is the collective of the parts `planned` with fewer
/// elements.
LoweredParts lowered_parts(const core::CollectiveParts& planned, const Collective& small) {
  std::string words;
  std::size_t next = 0;
  const auto inside = [&](const Collective& of_small) -> std::shared_ptr<const Schedule> {
    while (!planned.all[next].inside_workers) ++next;
    const Collective& part = planned.all[next++].collective;
    auto own = lowered(part, of_small.elements);
    words += fmt::format("{}{} {} {}", words.empty() ? "inside workers " : " and ",
                         to_string(part.kind), own ? "by" : "as rings, not", describe(*part.nccl));
    return own ? std::move(*own) : nullptr;
  };
  auto schedule = core::schedule_of(*small.parts, small.elements, inside);
  return {std::move(schedule), std::move(words)};
}

/// Returns the size of the checker's state for a schedule, in words: one per element of every
/// buffer of every rank.
std::int64_t words_to_check(const Collective& collective) {
  const Schedule& schedule = *collective.schedule;
  std::int64_t words = 0;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank)
    words += collective.contract().buffer_elements() + schedule.scratch(rank);
  return words;
}

/// Returns the number of elements with which a collective is proved: at most kCheckedElements, but
/// at least one element per block if the collective has blocks.
std::int64_t elements_to_check(const Collective& planned) {
  const std::int64_t elements = std::min(planned.elements, kCheckedElements);
  if (!has_blocks(planned.kind)) return elements;
  return std::max(elements / planned.contributors, std::int64_t{1}) * planned.contributors;
}

/// Returns the location of a violation in the file of a custom algorithm, as "FILE:LINE:COLUMN: ";
/// empty if the violation does not concern a single step, or if `custom` is null.
std::string place_of(const core::Violation& violation, const core::CustomChoice* custom) {
  if (custom == nullptr || violation.lane < 0 || violation.step < 0) return "";
  const auto place = custom->made->place_of(violation.rank, violation.lane, violation.step);
  return place ? fmt::format("{}:{}:{}: ", place->file, place->line, place->column) : "";
}

/// Proves the schedule of the collective `planned`. `small` is the same collective at a size that
/// can be proved. If `as_it_is` is true, `small` equals `planned`. `custom` is the algorithm of the
/// collective if a file describes it, or null.
Expected<std::string> prove(const std::string& what, const Collective& planned, Collective small,
                            bool as_it_is, const core::CustomChoice* custom) {
  Contract contract = small.contract();
  std::string of_nccl;
  if (planned.nccl) {
    auto own = lowered(planned, small.elements);
    of_nccl = own ? fmt::format("{}: ", describe(*planned.nccl))
                  : fmt::format("not with NCCL's own schedule ({}): ",
                                own.error().problems().front().text);
    if (own) {
      small.schedule = std::move(*own);
      contract = Contract::of(planned.kind, static_cast<std::int32_t>(planned.contributors),
                              small.elements, planned.root, !can_be_in_place(planned.kind));
    }
  }
  // With fewer elements, `small` may have fewer parts than `planned`, so check that the numbers of
  // parts are equal.
  const core::CollectiveParts* const parts = core::timed_parts(planned);
  if (parts && small.parts && small.parts->all.size() == parts->all.size()) {
    LoweredParts own = lowered_parts(*parts, small);
    small.schedule = std::move(own.schedule);
    of_nccl = own.words + ": ";
  }
  const std::int64_t steps = steps_of(*small.schedule);
  if ((!as_it_is && words_to_check(small) > kMaxCheckedWords) || steps > kMaxCheckedSteps) {
    return refused({ProblemCode::kTooLarge, "--check"},
                   "--check: the schedule of {} is too large to prove ({} steps on {} ranks); use "
                   "fewer workers, because the same algorithm can be proved on a smaller cluster",
                   what, steps, small.schedule->ranks());
  }
  const std::vector<core::Violation> violations = core::check(*small.schedule, contract);
  if (!violations.empty()) {
    std::string all = fmt::format("{}: the schedule is wrong:", what);
    for (const core::Violation& violation : violations)
      all += "\n  " + place_of(violation, custom) + violation.text;
    return tl::make_unexpected(Error::run({ProblemCode::kWrongResult}, all));
  }
  return fmt::format(
      "{}: {}each of {} replicas ends with {} ({} elements{})\n", what, of_nccl, small.contributors,
      planned.kind == core::CollectiveKind::kAllReduce
          ? "every contribution exactly once"
          : fmt::format("the result of {}", to_string(planned.kind)),
      small.elements,
      small.elements < planned.elements ? fmt::format(" instead of {}", planned.elements) : "");
}

Expected<std::string> prove_pack(const Scenario& scenario, std::size_t number) {
  const Pack& pack = scenario.plan.packs[number];
  const Collective& planned = scenario.plan.collective(pack);
  const std::int64_t elements = elements_to_check(planned);
  const core::Strategy strategy = strategy_of(scenario.strategy, pack);
  const core::Cluster& cluster = *scenario.cluster;
  const auto& partition = scenario.plan.partition;
  // Packs on servers are proved at full size, because their server depends on the size. The
  // strategy's reduction of gradients does not apply to sparse data or to checkpoints.
  const bool as_it_is = core::on_servers(core::reduction_scope(scenario.strategy, scenario.plan)) ||
                        pack.payload.reduction.has_value();
  Collective small =
      as_it_is ? planned
      : partition
          ? core::make_collective(cluster, strategy, planned.type, elements, pack.turn, *partition)
          : core::make_collective(cluster, strategy, planned.type, elements, pack.turn);
  const bool of_file = strategy.custom && planned.kind == strategy.custom->made->kind();
  return prove(fmt::format("pack {}", number), planned, std::move(small), as_it_is,
               of_file ? &*strategy.custom : nullptr);
}

Expected<std::string> prove_exchange(const Scenario& scenario, std::size_t number) {
  const core::PlannedExchange& exchange = scenario.plan.exchanges[number];
  const Collective& planned = scenario.plan.collective(exchange);
  const std::size_t c = exchange.communicator;
  core::Strategy strategy = scenario.communicators[c].strategy;
  strategy.collective = planned.kind;
  strategy.out_of_place = planned.out_of_place;
  return prove(fmt::format("exchange {}", number), planned,
               core::make_collective(*scenario.cluster, strategy, planned.type,
                                     elements_to_check(planned), static_cast<int>(number),
                                     *scenario.plan.planned(exchange.collective).groups),
               false, nullptr);
}

}  // namespace

std::int64_t steps_of(const Schedule& schedule) {
  std::int64_t steps = 0;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) steps += schedule.steps(rank, lane);
  }
  return steps;
}

ShownSteps shown_steps(const Collective& planned) {
  ShownSteps shown{planned, ""};
  if (const core::CollectiveParts* const parts = core::timed_parts(planned))
    shown.collective.schedule = lowered_parts(*parts, planned).schedule;
  if (!planned.nccl) return shown;
  if (auto steps = lowered(planned, planned.elements)) {
    shown.collective.schedule = std::move(*steps);
  } else {
    shown.why_not_nccls = steps.error().problems().front().text;
  }
  return shown;
}

Expected<std::string> prove_schedules(const Scenario& scenario) {
  std::string text;
  for (std::size_t p = 0; p < scenario.plan.packs.size(); ++p) {
    const auto line = prove_pack(scenario, p);
    if (!line) return failed(line);
    text += *line;
  }
  for (std::size_t e = 0; e < scenario.plan.exchanges.size(); ++e) {
    const auto line = prove_exchange(scenario, e);
    if (!line) return failed(line);
    text += *line;
  }
  return text;
}

Expected<std::string> check_task_graphs(const Scenario& scenario) {
  if (const auto& graph = scenario.plan.graph)  // checked when it was read
    return fmt::format(
        "task graphs of the trace: {} tasks of {} ranks; the step ends, every message is received, "
        "and all ranks take part in the same collectives\n",
        graph->tasks(), graph->ranks.size());
  const core::StepPrograms programs(scenario.workload, scenario.plan);
  const core::PlanView view = core::view_of(programs, scenario.plan);
  std::string wrong, possible;
  for (const core::PlanProblem& problem : problems_of(view)) {
    if (is_certain(problem.code))
      wrong += "\n  " + problem.text;
    else
      possible += fmt::format("note: possible deadlock: {}\n", problem.text);
  }
  if (!wrong.empty())
    return tl::make_unexpected(
        Error::run({ProblemCode::kWrongResult}, "the task graph is wrong:" + wrong));
  std::string text;
  for (const core::PlanView::Role& role : view.roles) {
    text += fmt::format(
        "task graph{}: {} tasks and {} edges; the step ends, and all ranks take part in the same "
        "collectives{}\n",
        view.roles.size() == 1 ? "" : " of " + role.name, role.program->size(),
        role.program->successors.size(), possible.empty() ? " in the same order" : "");
  }
  return text + possible;
}

}  // namespace tutti::tools
