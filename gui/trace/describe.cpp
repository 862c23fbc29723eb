#include "gui/trace/describe.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/step_parts.h"
#include "core/timeline/summary.h"

namespace tutti::gui {

using core::show;
using core::SpanKind;
using core::Time;

namespace {

/// Formats a time of the run exactly, to the picosecond.
std::string moment(Time t) { return fmt::format("{:.6f} ms", core::to_ms(t)); }

std::string rate(core::Bytes bytes, Time time) {
  if (time <= Time() || bytes.count() == 0) return "";
  return fmt::format("{:.3g} GB/s",
                     static_cast<double>(bytes.count()) / static_cast<double>(time.count()) * 1000);
}

void pack_facts(const Trace& trace, std::int32_t step, std::int32_t pack, Facts& facts) {
  if (pack < 0 || static_cast<std::size_t>(pack) >= trace.run().packs.size()) return;
  const core::RunInfo::PackInfo& info = trace.run().packs[pack];
  facts.emplace_back("pack", fmt::format("{} of {}", pack, trace.run().packs.size()));
  facts.emplace_back("pack's bytes", fmt::format("{} ({} gradients, {})", show(info.bytes),
                                                 info.gradients.size(), info.type));
  if (!info.gradients.empty()) facts.emplace_back("first gradient", info.gradients.front());
  if (info.gradients.size() > 1) facts.emplace_back("last gradient", info.gradients.back());
  const auto record =
      std::find_if(trace.packs().begin(), trace.packs().end(),
                   [&](const core::PackRecord& p) { return p.step == step && p.pack == pack; });
  if (record == trace.packs().end()) return;
  facts.emplace_back("pack ready on all", moment(record->ready));
  facts.emplace_back("pack started on all", moment(record->last_start));
  facts.emplace_back("pack ended on all", moment(record->end));
}

/// Adds a text such as "packs in 38 of 40 rows" if some rows of a kind have no spans.
void report_empty_rows(const Trace& trace, core::TrackKind kind, const char* what,
                       std::vector<std::string>& lost) {
  std::size_t rows = 0, empty = 0;
  for (const Trace::Row& row : trace.rows()) {
    rows += row.track.kind == kind;
    empty += row.track.kind == kind && row.spans.size() == 0;
  }
  if (empty > 0)
    lost.push_back(fmt::format("{} in {} of {} rows", what,
                               empty == rows ? "all" : std::to_string(empty), rows));
}

/// Describes which data of the run is missing from the timeline's file.
std::string missing_data_text(const Trace& trace) {
  const core::RunInfo& run = trace.run();
  std::vector<std::string> lost;
  if (run.scenario.empty()) lost.emplace_back("the scenario of the run");
  report_empty_rows(trace, core::TrackKind::kCompute, "computation", lost);
  report_empty_rows(trace, core::TrackKind::kPacks, "packs in flight", lost);
  report_empty_rows(trace, core::TrackKind::kLane, "lanes", lost);
  const auto steps = static_cast<std::int64_t>(trace.steps().size());
  if (steps < run.steps)
    lost.push_back(
        fmt::format("the times of {} of {} training steps", run.steps - steps, run.steps));
  if (trace.packs().empty() && !run.packs.empty())
    lost.emplace_back("the ready, start and end times of packs");
  if (run.executor.starts_with("simulated")) {
    if (trace.links().empty()) lost.emplace_back("the load of links");
    if (trace.path().empty()) lost.emplace_back("the critical path");
  }
  return fmt::format("{}", fmt::join(lost, "; "));
}

}  // namespace

core::Summary summary_of(const Trace& trace) {
  core::Summary summary;
  summary.begin(trace.run());
  for (const core::StepRecord& step : trace.steps()) summary.step(step);
  for (const core::PackRecord& pack : trace.packs()) summary.pack(pack);
  if (trace.steady()) summary.steady(*trace.steady());
  return summary;
}

std::string moment(const Trace& trace, Time shown) {
  for (const AxisStretch& stretch : trace.axis()) {
    if (shown >= stretch.from && shown < stretch.to)
      return fmt::format("{} + {}", stretch.name, moment(shown - stretch.from));
  }
  return moment(shown);
}

core::Expected<Facts> facts_of_span(const Trace& trace, std::size_t row, SpanRow::Index index) {
  if (trace.parts()) {
    // Take the facts about the span from its own file, and insert the facts about the comparison.
    const auto [own, there] = trace.parts()->origin({row, index});
    auto of_file = facts_of_span(*own, there.row, there.index);
    if (!of_file) return of_file;
    Facts facts = trace.parts()->facts({row, index});
    of_file->insert(of_file->begin() + 2, facts.begin(), facts.end());
    return of_file;
  }
  const auto span = trace.span(row, index);
  if (!span) return tl::make_unexpected(span.error());
  const core::Track& track = trace.rows()[row].track;
  Facts facts{
      {"what", core::span_name(span->kind)},
      {"where", fmt::format("w{}/{}, {}", track.worker, track.device, trace.rows()[row].name)},
      {"takes", show(span->duration)}};
  if (span->wait > Time()) {
    facts.emplace_back("waits first", show(span->wait));
    facts.emplace_back("then works", show(span->duration - span->wait));
  }
  facts.emplace_back("from", moment(span->start));
  facts.emplace_back("to", moment(span->start + span->duration));
  facts.emplace_back("training step", std::to_string(span->step));
  const bool lane_step = span->kind < SpanKind::kFirstCompute;
  if (lane_step) facts.emplace_back("step of the lane", std::to_string(span->index));
  if (!lane_step && span->pack < 0 && span->index >= 0 &&
      static_cast<std::size_t>(span->index) < trace.run().layers.size())
    facts.emplace_back("up to layer", trace.run().layers[span->index]);
  if (span->bytes.count() > 0) {
    facts.emplace_back("bytes", fmt::format("{} ({})", show(span->bytes), span->bytes.count()));
    if (const std::string r = rate(span->bytes, span->duration - span->wait); !r.empty())
      facts.emplace_back("rate", r);
  }
  if (const auto peer = trace.row_of(span->peer); span->peer != core::kNoTrack && peer) {
    const core::Track& other = trace.rows()[*peer].track;
    facts.emplace_back("comes from", fmt::format("w{}/{}, {}, step {}", other.worker, other.device,
                                                 trace.rows()[*peer].name, span->peer_index));
  }
  pack_facts(trace, span->step, span->pack, facts);
  return facts;
}

Facts facts_of_run(const Trace& trace) {
  if (trace.parts()) return trace.parts()->facts();
  const core::RunInfo& run = trace.run();
  const core::Summary summary = summary_of(trace);
  const auto known = [](const std::string& text) { return text.empty() ? "not known" : text; };
  Facts facts{
      {"scenario", known(run.scenario)},
      {"made by",
       run.executor.empty() ? "not known" : fmt::format("{}, Tutti {}", run.executor, run.version)},
      {"cluster", known(run.cluster)},
      {"workload", known(run.workload)},
      {"strategy", known(run.strategy)}};
  if (!trace.complete()) {
    facts.insert(facts.begin(), {"incomplete", "the file " + trace.damage()});
    if (const std::string lost = missing_data_text(trace); !lost.empty())
      facts.insert(facts.begin() + 1, {"missing", lost});
  }
  if (const auto step = summary.steady_parts()) {
    facts.emplace_back("step time",
                       fmt::format("{} ({})", show(step->time), summary.steady_basis()));
    for (const auto& part : core::parts_that_add_up(*step))
      facts.emplace_back(part.title, show(part.value));
  } else {
    facts.emplace_back("step time",
                       "unknown, because the timeline does not contain the end of a step");
  }
  if (run.step_bound > Time())
    facts.emplace_back("lower bound of the step time", show(run.step_bound));
  facts.emplace_back("recorded",
                     fmt::format("{} spans in {} rows", trace.spans(), trace.rows().size()));
  for (const std::string& note : run.notes) facts.emplace_back("note", note);
  return facts;
}

}  // namespace tutti::gui
