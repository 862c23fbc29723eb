// A step is explained in two ways. First, up to four times are computed for each pack, from the
// ideal to the real time: the lower bound of any algorithm, the time if only ports limit the pack,
// the time on all links without other traffic, and the time in the training step. The differences
// between consecutive times are the costs of the algorithm, of the links, and of other traffic.
// Second, every variation of the scenario that might reduce the step time (core/advice/what_if.h)
// is simulated, on all cores. The variations are sorted by the resulting step time. Equal packs are
// simulated once. Packs with more than 20 million schedule steps are not simulated. Traces and
// single algorithms are explained by explain_trace.cpp and explain_algorithm.cpp.

#include "tools/tutti/explain.h"

#include <algorithm>
#include <map>
#include <new>
#include <tuple>

#include <fmt/format.h>

#include "core/advice/closed_form.h"
#include "core/advice/extrapolation.h"
#include "core/advice/what_if.h"
#include "core/base/format.h"
#include "core/explore/outcome.h"
#include "core/lowering/reduction_scope.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/bounds.h"
#include "core/timeline/summary.h"
#include "sim/collectives/collective_run.h"
#include "sim/collectives/plan_collectives.h"
#include "sim/simulator.h"
#include "sim/sweep/evaluator.h"
#include "sim/sweep/pool.h"
#include "tools/tutti/explain_algorithm.h"
#include "tools/tutti/explain_operations.h"
#include "tools/tutti/explain_trace.h"
#include "tools/tutti/explore/explore.h"
#include "tools/tutti/import_trace.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::Outcome;
using core::ProblemCode;
using core::Report;
using core::show;
using core::Time;

/// A collective with more schedule steps than this, over all ranks, is not simulated alone, because
/// the simulation would take more than about ten seconds.
constexpr std::int64_t kMaxSteps = 20'000'000;
/// The report omits what-ifs that save less than this fraction of the step time.
constexpr double kMinReportedShare = 0.001;

/// The times of one pack, from its lower bound to its time in the training step.
struct PackCosts {
  std::int32_t pack = 0;
  core::Bytes bytes;
  Time least;  ///< the lower bound of the time of any algorithm on this cluster
  std::optional<Time> closed_form;  ///< the time by the closed form, which considers only ports
  /// The time if all links limit the pack, but there is no other traffic.
  std::optional<Time> alone;
  Time in_step;
  core::ClosedForm form;
  std::string by_nccl;  ///< NCCL's choices; empty: NCCL's model does not apply
  std::shared_ptr<const core::nccl::CollectiveTime>
      nccl;  ///< the time that NCCL's model predicts for the whole collective; null: the model does
             ///< not cover the whole collective
};

/// A variation of the scenario, and its outcome; nullopt if the changed scenario is invalid.
struct Answer {
  core::WhatIf question;
  std::optional<Outcome> outcome;
};

struct Explanation {
  core::Scenario scenario;
  core::Summary summary;
  std::vector<PackCosts> packs;
  std::vector<Answer> answers;  ///< sorted by saving, largest first
  std::vector<std::string> notes;
};

std::int64_t steps_in(const core::Schedule& schedule) {
  std::int64_t steps = 0;
  for (core::Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (int lane = 0; lane < schedule.lanes(rank); ++lane) steps += schedule.steps(rank, lane);
    if (steps > kMaxSteps) break;
  }
  return steps;
}

std::vector<PackCosts> pack_costs(const core::Scenario& scenario, const core::Summary& summary,
                                  std::vector<std::string>& notes) {
  std::vector<PackCosts> list;
  // The costs of packs, indexed by everything on which they depend, so that equal costs are
  // computed once. Packs of the same length on the same server have equal costs.
  const core::ReductionScope who = core::reduction_scope(scenario.strategy, scenario.plan);
  const bool on_servers = core::on_servers(who);
  std::map<std::tuple<std::int64_t, int, core::CollectiveKind, core::DataType, int>,
           std::pair<std::optional<Time>, std::optional<Time>>>
      known;
  bool too_long = false;
  for (const core::PackRecord& record : summary.last_packs()) {
    const core::Pack& pack = scenario.plan.packs[record.pack];
    PackCosts costs;
    costs.pack = record.pack;
    costs.bytes = scenario.plan.collective(pack).bytes();
    // The strategy's reduction does not apply to packs that are gathered or that are not gradients.
    // The collectives of a trace may have groups of ranks for which there are no bounds or closed
    // forms.
    const bool of_trace = scenario.plan.graph != nullptr;
    const bool reduced = !of_trace && !pack.payload.reduction &&
                         scenario.plan.collective(pack).kind == scenario.strategy.collective;
    if (!of_trace && who == core::ReductionScope::kAllReplicas &&
        (reduced || scenario.plan.collective(pack).kind == core::CollectiveKind::kAllReduce))
      costs.least =
          core::all_reduce_bound(*scenario.cluster, costs.bytes, scenario.run.network_model,
                                 core::network_adds(scenario.plan))
              .time;
    costs.in_step = record.end - record.last_start;
    costs.by_nccl = core::describe_nccl(scenario.plan.collective(pack));
    if (const auto& nccl = scenario.plan.collective(pack).nccl) {
      costs.alone = nccl->whole();
      costs.nccl = nccl;
      list.push_back(std::move(costs));
      continue;
    }
    if (reduced) costs.form = core::closed_form(scenario, pack);
    auto [found, fresh] = known.try_emplace(
        {scenario.plan.collective(pack).elements, pack.entry, scenario.plan.collective(pack).kind,
         scenario.plan.collective(pack).type, on_servers || of_trace ? record.pack : 0});
    if (fresh && steps_in(*scenario.plan.collective(pack).schedule) <= kMaxSteps) {
      const Time launch = sim::PlanCollectives::launch_of(scenario.plan.collective(pack), Time());
      found->second.first =
          launch +
          sim::run_alone(scenario.plan.collective(pack), core::NetworkModel::kIdeal, {}, false).end;
      found->second.second =
          launch +
          sim::run_alone(scenario.plan.collective(pack), scenario.run.network_model, {}, false).end;
    }
    too_long = too_long || !found->second.first;
    costs.closed_form = found->second.first;
    costs.alone = found->second.second;
    list.push_back(std::move(costs));
  }
  if (std::any_of(list.begin(), list.end(), [](const PackCosts& p) { return !p.by_nccl.empty(); }))
    notes.emplace_back(core::kNcclIsMeasured);
  if (scenario.plan.fuses())
    notes.emplace_back(
        "for a fused pack, the time simulated in the step is the time of the fused buffer, and all "
        "other times are times of the pack alone");
  if (too_long)
    notes.emplace_back(
        "packs with too many schedule steps were not simulated alone, because this would take too "
        "long");
  return list;
}

/// Evaluates all what-ifs, on all cores.
Expected<std::vector<Answer>> answers_of(const core::Scenario& scenario,
                                         const core::Summary& summary, const core::Library& library,
                                         int threads, const Interrupt& interrupt,
                                         std::vector<std::string>& notes) {
  auto questions = core::what_ifs(scenario, summary, library);
  if (!questions) return failed(questions);
  for (const std::string& note : questions->notes) notes.push_back("not varied: " + note);
  std::vector<Answer> answers;
  for (core::WhatIf& question : questions->list)
    answers.push_back({std::move(question), std::nullopt});
  Progress progress("simulating changes");
  sim::Simulator simulator;
  sim::PoolWork pool;
  for (std::size_t i = 0; i < answers.size(); ++i)
    pool.points.push_back(static_cast<std::int64_t>(i));
  pool.threads = threads;
  const auto evaluate = [&](std::int64_t i,
                            const std::atomic<bool>& stop) -> std::optional<Outcome> {
    const auto other = core::read_scenario(answers[i].question.text, scenario.file, library);
    if (!other) return core::outcome_of(other.error());
    core::Summary of_other;
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    core::RunControl control;
    control.cancel = &stop;
    const auto ran = simulator.run(*other, record, control, of_other);
    if (stop.load()) return std::nullopt;
    return ran ? core::outcome_of(of_other) : core::outcome_of(ran.error());
  };
  pool.work = [&](std::int64_t i, const std::atomic<bool>& stop) -> std::optional<Outcome> {
    try {
      return evaluate(i, stop);
    } catch (const std::bad_alloc&) {
      return sim::out_of_memory();
    }
  };
  std::size_t done = 0;
  pool.take = [&](std::int64_t i, const Outcome& outcome) {
    if (outcome.status == Outcome::Status::kDone) answers[i].outcome = outcome;
    progress.update(static_cast<double>(++done) / static_cast<double>(answers.size()));
    return true;
  };
  pool.stop = [&] { return interrupt.happened(); };
  pool.waiting = print_waiting;
  if (!sim::run_pool(pool))
    notes.push_back(
        fmt::format("the command was interrupted, so only {} of {} changes were simulated", done,
                    answers.size()));
  std::erase_if(answers, [](const Answer& answer) { return !answer.outcome; });
  std::stable_sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
    return a.outcome->step < b.outcome->step;
  });
  return answers;
}

std::string shown(const std::optional<Time>& time) { return time ? show(*time) : "–"; }

std::vector<Report> pack_reports(const Explanation& e) {
  std::vector<Report> reports;
  for (const PackCosts& p : e.packs) {
    Report& report = reports.emplace_back();
    report.add({{"pack", p.pack, "pack"},
                {"bytes", p.bytes, "bytes"},
                {"least_us", p.least, "lower bound", p.least > Time() ? "" : "–"},
                {"closed_form_us", p.closed_form, "closed form", shown(p.closed_form)}});
    if (!p.form.form.empty())
      report.add("closed_form", p.form.form).add("closed_form_of", p.form.where);
    report.add({{"alone_us", p.alone, "alone", shown(p.alone)},
                {"in_step_us", p.in_step, "in the step"},
                {"nccl", core::unless_empty(p.by_nccl), "?<by NCCL"}});
    if (!p.nccl) continue;
    report.add("capped_at_bound", core::unless_empty(p.nccl->time.capped_at));
    report.add("error_band", band_report(p.nccl->band.low, p.nccl->band.high));
  }
  return reports;
}

std::string pack_part(const Explanation& e, int rows) {
  if (e.packs.empty() || rows == 0) return "";
  std::string text =
      "times of packs: the lower bound for any algorithm, the closed form (with the bandwidth of "
      "ports only), the simulated time of the pack alone (with all links), and its simulated time "
      "in the step\n" +
      table_text(pack_reports(e), 2, rows);
  const auto largest =
      std::max_element(e.packs.begin(), e.packs.end(),
                       [](const PackCosts& a, const PackCosts& b) { return a.bytes < b.bytes; });
  if (!largest->form.form.empty())
    text += fmt::format("  closed form: {}\n    of pack {}: {}\n", largest->form.form,
                        largest->pack, largest->form.where);
  return text + '\n';
}

std::string answer_part(const Explanation& e, int rows) {
  const Time now = e.summary.step_time();
  Table table({"saves", "", "step time", "<change"});
  int shown_rows = 0;
  std::size_t idle = 0, worse = 0;
  for (const Answer& answer : e.answers) {
    const Time saved = now - answer.outcome->step;
    if (share(saved, now) < kMinReportedShare) {
      ++(share(saved, now) < -kMinReportedShare ? worse : idle);
      continue;
    }
    if (shown_rows++ < rows)
      table.row({show(saved), core::show_share(share(saved, now)), show(answer.outcome->step),
                 answer.question.what});
  }
  std::string text = "most helpful changes (each simulated)\n";
  text += shown_rows > 0 ? table.text(2) : "  none of the tried changes shortens the step\n";
  if (idle + worse > 0)
    text += fmt::format(
        "  {} other changes: {} change the step time by less than {}, {} make it longer\n",
        idle + worse, idle, core::show_share(kMinReportedShare), worse);
  return text + '\n';
}

std::string text_of(const Explanation& e, int rows) {
  const core::RunInfo& info = e.summary.info();
  const Time step = e.summary.step_time();
  const auto parts = e.summary.steady_parts();
  std::string text = fmt::format("{}: {} per step (Tutti {}, network model {})\n", info.scenario,
                                 show(step), info.version, info.network_model);
  text += fmt::format("  {}; {}; {}\n\n", info.cluster, info.workload, info.strategy);
  const Time compute = parts->forward + parts->backward + parts->other_compute;
  text += fmt::format("computation {} ({}), exposed communication {} ({})\n", show(compute),
                      core::show_share(share(compute, step)), show(parts->exposed),
                      core::show_share(share(parts->exposed, step)));
  if (!info.bound_reason.empty()) {
    text += fmt::format(
        "lower bound {}: on this hardware, the step can become shorter by at most {} ({})\n",
        show(info.step_bound), show(std::max(Time(), step - info.step_bound)), info.bound_reason);
  }
  text += "\ncritical path of the last step\n";
  for (const std::string& line : e.summary.path_in_words()) text += "  " + line + '\n';
  text += '\n';
  text += pack_part(e, rows);
  text += answer_part(e, rows);
  text += note_lines(e.notes) + note_lines(info.notes);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

Report report_of(const Explanation& e) {
  const core::RunInfo& info = e.summary.info();
  const auto parts = e.summary.steady_parts();
  const Time step = e.summary.step_time();
  Report report = scenario_report(info);
  report.add({{"network_model", info.network_model},
              {"seed", info.seed},
              {"step_time_us", step},
              {"exposed_communication_us", parts->exposed},
              {"computation_us", parts->forward + parts->backward + parts->other_compute}});
  const Report bound{{"step_us", info.step_bound},
                     {"communication_us", info.communication_bound},
                     {"communication_reason", info.bound_reason}};
  report.add("lower_bound", info.bound_reason.empty() ? core::ReportValue(nullptr) : bound);
  report.add("critical_path_in_words", e.summary.path_in_words());
  report.add("packs", pack_reports(e));
  report.add("what_if", core::list_of(e.answers, [&](const Answer& answer) {
               return Report{{"what", answer.question.what},
                             {"step_time_us", answer.outcome->step},
                             {"saves_us", step - answer.outcome->step}};
             }));
  std::vector<std::string> notes = e.notes;
  notes.insert(notes.end(), info.notes.begin(), info.notes.end());
  return report.add("notes", notes);
}

}  // namespace

int explain(const ExplainOptions& options, const Environment& environment) {
  if (options.algorithm) return explain_algorithm(options, environment);
  if (options.traces.empty() && is_operation_log(options.scenario.file))
    return explain_operations(options, environment);
  if (!options.traces.empty() || is_trace(options.scenario.file))
    return explain_trace(options, environment);
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.rows < 0)
    return refuse({ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  if (options.threads < 0)
    return refuse({ProblemCode::kTooSmall, "--threads"},
                  "--threads must be at least 0 (0: all cores)");
  auto scenario = load_scenario(options.scenario, environment);
  if (!scenario) return report(scenario.error());
  Interrupt interrupt(Interrupt::Begins::kLater);
  Explanation explanation;
  explanation.scenario = std::move(*scenario);
  {
    Progress progress("simulating");
    sim::Simulator simulator;
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    core::RunControl control;
    control.cancel = &interrupt.flag();
    control.progress = [&](double done) { progress.update(done); };
    if (const auto ran = simulator.run(explanation.scenario, record, control, explanation.summary);
        !ran)
      return report(ran.error());
  }
  if (interrupt.happened() || explanation.summary.steps().empty()) {
    return report(core::Error::run({ProblemCode::kStopped}, "interrupted"));
  }
  interrupt.begin();
  explanation.packs = pack_costs(explanation.scenario, explanation.summary, explanation.notes);
  auto answers = answers_of(explanation.scenario, explanation.summary, environment.library,
                            threads_of(options.threads), interrupt, explanation.notes);
  if (!answers) return report(answers.error());
  explanation.answers = std::move(*answers);
  for (std::string& note : core::extrapolations(explanation.scenario))
    explanation.notes.push_back(std::move(note));
  const int printed = *format == Format::kJson ? print_out(result_json(report_of(explanation)))
                                               : print_report(text_of(explanation, options.rows));
  return interrupt.happened()
             ? report(core::Error::run({ProblemCode::kStopped},
                                       "interrupted; the list of changes is incomplete"))
             : printed;
}

}  // namespace tutti::tools
