#include "core/scenario/custom.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/custom/custom_algorithm.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/cluster_reader.h"
#include "core/schedule/checker.h"

namespace tutti::core {
namespace {

/// The maximum number of steps, over all ranks, for which schedules are checked before every run.
/// A check of this many steps takes about a second.
constexpr std::int64_t kQuicklyProvedSteps = 1 << 16;
/// The maximum number of steps for which schedules are checked before a real run. A check of this
/// many steps takes some minutes.
constexpr std::int64_t kMaxProvedSteps = 10'000'000;
/// The maximum number of steps, over all ranks, for which the use of switches is checked when a
/// scenario is read. A check of this many steps takes one to three seconds.
constexpr std::int64_t kMaxSwitchSteps = 1 << 23;
/// The number of elements with which schedules are checked. The number is odd, and just large
/// enough to fill most chunks.
constexpr std::int64_t kProvedElements = 4099;

/// Parses a parameter such as "slices=8"; nullopt if the text is not a name with a number.
std::optional<AlgorithmParameter> parameter_from(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  AlgorithmParameter parameter{text.substr(0, equals), 0};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data() + equals + 1, end, parameter.value);
  if (status != std::errc() || stop != end || equals + 1 == text.size()) return std::nullopt;
  return parameter;
}

std::int64_t proved_elements(const Collective& planned) {
  const std::int64_t elements = std::min(planned.elements, kProvedElements);
  if (!has_blocks(planned.kind)) return elements;
  return std::max<std::int64_t>(elements / planned.contributors, 1) * planned.contributors;
}

/// Returns the location of the step in the algorithm's file. If the violation does not concern a
/// single step, returns the whole file.
Location place_of(const Violation& violation, const CustomAlgorithm& algorithm,
                  const std::string& file) {
  if (violation.lane >= 0 && violation.step >= 0) {
    if (const auto place = algorithm.place_of(violation.rank, violation.lane, violation.step))
      return *place;
  }
  return {file, 0, 0};
}

/// If the scenario does not set the collective, sets the one that the file describes. A collective
/// that cannot be in place becomes out of place.
void take_collective(CollectiveKind kind, WrittenScenario& written) {
  Strategy& strategy = written.scenario.strategy;
  if (!written.message->strategy().has_collective()) strategy.collective = kind;
  if (!written.message->strategy().has_out_of_place() && !can_be_in_place(strategy.collective))
    strategy.out_of_place = true;
  if (!written.message->strategy().has_collective() && written.message->strategy().has_root() &&
      !has_root(kind)) {
    written.fields.complain_at(written.message->strategy(), "root", ProblemCode::kUnused,
                               "strategy: {} has no root; only broadcast, reduce, gather and "
                               "scatter have one; remove root",
                               to_string(kind));
  }
}

/// Describes the ranks of a group, such as "ranks 0 to 6 (step 2)".
std::string describe(const RankSet& group) {
  const Rank last = group.at(group.count - 1);
  if (group.stride == 1 || group.count == 1)
    return fmt::format("ranks {} to {}", group.first, last);
  return fmt::format("ranks {} to {} (step {})", group.first, last, group.stride);
}

/// Returns the reason why no switch of the cluster can execute a step; empty if one can.
/// Each worker has `per_worker` ranks with consecutive numbers.
std::string obstacle_to_switch(const Step& step, Rank rank, const Cluster& cluster) {
  const std::int32_t per_worker = cluster.replicas_per_worker();
  const std::int32_t worker = rank / per_worker;
  const bool multicasts = step.kind == StepKind::kMulticast;
  const RankSet& group = step.group;
  const Rank last = group.at(group.count - 1);
  const std::string what = fmt::format(
      "rank {} {} {}", rank, multicasts ? "multicasts to" : "reduces across", describe(group));
  if (group.first / per_worker != worker || last / per_worker != worker) {
    return fmt::format(
        "{}, but a switch connects only the GPUs of a node (here, ranks {} to {}); {}", what,
        worker * per_worker, (worker + 1) * per_worker - 1,
        multicasts ? "send separate messages to the ranks of other nodes"
                   : "reduce within each node, then send the sums");
  }
  if (!multicasts && !group.contains(rank))
    return fmt::format(
        "{}, but is not one of these ranks; include this rank, or let one of these ranks reduce",
        what);
  const Machine& machine = cluster.machine(worker);
  for (const Part& part : machine.parts()) {
    if (part.in_switch_reduction) return "";
  }
  return fmt::format(
      "{}, but no switch of {} reduces or multicasts; use a machine with such a switch "
      "(in_switch_reduction), such as hgx-h100, or {}",
      what, machine.name(),
      multicasts ? "send a separate message to each rank" : "let the ranks reduce messages");
}

/// Returns the location of the lane's first step that equals `wanted`. If no step among the first
/// ones equals `wanted`, returns the whole file.
Location place_of(const Step& wanted, const CustomAlgorithm& algorithm, const Schedule& schedule,
                  Rank rank, Lane lane, const std::string& file) {
  constexpr std::int64_t kMaxSearched = 1 << 16;
  const std::int64_t steps = std::min(schedule.steps(rank, lane), kMaxSearched);
  for (std::int64_t i = 0; i < steps; ++i) {
    const Step step = schedule.step(rank, lane, i);
    if (step.kind == wanted.kind && step.group.first == wanted.group.first &&
        step.group.count == wanted.group.count && step.group.stride == wanted.group.stride)
      return algorithm.place_of(rank, lane, i).value_or(Location{file, 0, 0});
  }
  return {file, 0, 0};
}

std::unique_ptr<Schedule> any_schedule(const CustomAlgorithm& algorithm) {
  const std::int64_t elements =
      algorithm.padded(algorithm.even_elements().value_or(algorithm.shape().ranks));
  return algorithm.schedule(elements, 0, Engine::kKernel);
}

/// Checks that the cluster has a switch for every step that needs one. Reports the first step
/// without such a switch.
void check_switches(const CustomAlgorithm& algorithm, const Cluster& cluster,
                    const std::string& file, Problems& problems) {
  if (algorithm.switch_use() == SwitchUse::kNone) return;
  const std::int32_t ranks = algorithm.shape().ranks;
  const auto schedule = any_schedule(algorithm);
  // If one worker represents all workers, only its steps need to be checked.
  const bool folded = algorithm.why_not_folded().empty();
  const Rank end = folded ? std::min(ranks, cluster.replicas_per_worker()) : ranks;
  if (algorithm.visits_per_rank() > kMaxSwitchSteps / end) {
    return problems.add(
        {ProblemCode::kTooLarge}, {file, 0, 0},
        "checking the switches that the algorithm uses takes more than {} steps; use "
        "groups that do not depend on the variables of loops, or fewer lanes or "
        "workers",
        kMaxSwitchSteps);
  }
  for (Rank rank = 0; rank < end; ++rank) {
    for (Lane lane = 0; lane < schedule->lanes(rank); ++lane) {
      bool found = false;
      schedule->visit_ways(rank, lane, [&](const Step& step) {
        if (found || switch_use_of(step.kind) == SwitchUse::kNone) return;
        const std::string why = obstacle_to_switch(step, rank, cluster);
        if (why.empty()) return;
        found = true;
        problems.add({ProblemCode::kUnsupported},
                     place_of(step, algorithm, *schedule, rank, lane, file), "{}", why);
      });
      if (found) return;
    }
  }
}

/// Returns the location of the first step that reduces in a switch.
Location first_switch_reduction(const CustomAlgorithm& algorithm, const std::string& file) {
  const auto schedule = any_schedule(algorithm);
  for (Rank rank = 0; rank < algorithm.shape().ranks; ++rank) {
    for (Lane lane = 0; lane < schedule->lanes(rank); ++lane) {
      std::optional<Step> first;
      schedule->visit_ways(rank, lane, [&](const Step& step) {
        if (!first && step.kind == StepKind::kSwitchReduce) first = step;
      });
      if (first) return place_of(*first, algorithm, *schedule, rank, lane, file);
    }
  }
  return {file, 0, 0};
}

tl::unexpected<Error> no_switch(const Scenario& scenario) {
  const CustomChoice& custom = *scenario.strategy.custom;
  return tl::make_unexpected(
      Error::request({ProblemCode::kUnsupported, "Custom"},
                     "the algorithm reduces in a switch, which no transport "
                     "of tutti run does; use tutti simulate, or let the ranks reduce messages",
                     first_switch_reduction(*custom.made, custom.path)));
}

}  // namespace

bool read_custom(WrittenScenario& written, const Library& library) {
  const proto::Custom& message = written.message->strategy().custom();
  if (message.file().empty()) return true;
  Fields& fields = written.fields;
  CustomChoice custom;
  custom.file = message.file();
  bool good = true;
  for (const std::string& text : message.set()) {
    if (auto parameter = parameter_from(text)) {
      custom.set.push_back(std::move(*parameter));
    } else {
      fields.complain_at(
          message, "set",
          "custom: set: \"{}\": expected NAME=NUMBER with a whole number, such as \"slices=8\"",
          text);
      good = false;
    }
  }
  const auto file = library.read(Library::Kind::kAlgorithm, message.file(), written.path);
  if (!file) return written.problems.add(file.error()), false;
  if (!*file) {
    complain_unknown(fields, message, "file", "algorithm", message.file(),
                     library.names(Library::Kind::kAlgorithm));
    return false;
  }
  custom.text = read_algorithm((*file)->text, (*file)->path, written.problems);
  if (!custom.text) return false;
  const CollectiveKind wanted = written.scenario.strategy.collective;
  if (written.message->strategy().has_collective() && wanted != custom.text->kind()) {
    // If the file does not describe this collective, the checks of the strategy report it.
    if (auto other = custom.text->for_collective(wanted)) custom.text = std::move(other);
  }
  const std::vector<std::string> known = custom.text->parameters();
  for (const AlgorithmParameter& one : custom.set) {
    if (std::find(known.begin(), known.end(), one.name) != known.end()) continue;
    fields.complain_at(message, "set", ProblemCode::kUnknownName,
                       "custom: set: the algorithm has no parameter \"{}\"{}", one.name,
                       known.empty() ? "; it has none" : did_you_mean(one.name, known));
    good = false;
  }
  remember(**file, written.scenario.files);
  custom.path = (*file)->path;
  take_collective(custom.text->kind(), written);
  written.scenario.strategy.custom = std::move(custom);
  return good;
}

void lower_custom(WrittenScenario& written) {
  Strategy& strategy = written.scenario.strategy;
  if (!strategy.custom) return;
  const Cluster& cluster = *written.scenario.cluster;
  if (cluster.replicas() > kMaxRanks) return;  // reported elsewhere
  const AlgorithmShape shape{static_cast<std::int32_t>(cluster.replicas()),
                             cluster.replicas_per_worker(), strategy.root};
  strategy.custom->made =
      strategy.custom->text->for_shape(shape, strategy.custom->set, written.problems);
  if (strategy.custom->made)
    check_switches(*strategy.custom->made, cluster, strategy.custom->path, written.problems);
}

void note_custom(Scenario& scenario) {
  if (!scenario.strategy.custom) return;
  if (const std::string note = scenario.strategy.custom->made->note(); !note.empty())
    scenario.plan.notes.add("custom.of-the-file", "{}", note);
}

std::string describe(const CustomChoice& custom) {
  std::string text = fmt::format("{} of {}", custom.text->name(), custom.file);
  for (const AlgorithmParameter& parameter : custom.set)
    text += fmt::format(", {} {}", parameter.name, parameter.value);
  return text;
}

Expected<void> prove_custom(const Scenario& scenario, CustomProof proof) {
  if (!scenario.strategy.custom) return {};
  const CustomAlgorithm& algorithm = *scenario.strategy.custom->made;
  if (proof == CustomProof::kWhole && algorithm.switch_use() == SwitchUse::kReduction)
    return no_switch(scenario);
  std::set<std::int64_t> sizes;
  std::int64_t steps = 0;
  for (const Pack& pack : scenario.plan.packs) {
    const Collective& planned = scenario.plan.collective(pack);
    if (pack.payload.reduction.has_value() || planned.kind != algorithm.kind()) continue;
    const std::int64_t elements = proved_elements(planned);
    if (!sizes.insert(elements).second) continue;
    steps += algorithm.total_steps();
    if (proof == CustomProof::kQuick && steps > kQuicklyProvedSteps) break;
    if (steps > kMaxProvedSteps) {
      return tl::make_unexpected(
          Error::request({ProblemCode::kTooLarge, "Custom"},
                         fmt::format("the algorithm has more than {} steps on its {} ranks, too "
                                     "many to prove it correct, and only proved algorithms can be "
                                     "run; use fewer workers or chunks, or tutti simulate",
                                     kMaxProvedSteps, algorithm.shape().ranks),
                         {scenario.strategy.custom->path, 0, 0}));
    }
    const Collective small =
        make_collective(*scenario.cluster, scenario.strategy, planned.type, elements, pack.turn);
    const std::vector<Violation> violations =
        check(*small.schedule, small.contract(), {.random_orders = 0});
    if (violations.empty()) continue;
    const Violation& first = violations.front();
    const Location place = place_of(first, algorithm, scenario.strategy.custom->path);
    return tl::make_unexpected(
        Error::request({ProblemCode::kInvalid, "Custom"},
                       fmt::format("the algorithm is wrong for {} ranks: {}; tutti plan --check "
                                   "explains the error, and tutti plan --schedule prints the steps",
                                   algorithm.shape().ranks, first.text),
                       place));
  }
  return {};
}

Error never_ends(const Scenario& scenario) {
  return Error::request({ProblemCode::kInvalid, "Custom"},
                        fmt::format("the algorithm deadlocks: every rank waits for another rank; "
                                    "tutti plan --check with fewer workers shows where"),
                        {scenario.strategy.custom->path, 0, 0});
}

}  // namespace tutti::core
