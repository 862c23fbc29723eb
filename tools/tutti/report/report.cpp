#include "tools/tutti/report/report.h"

#include <map>

#include <fmt/format.h>

#include "core/base/format.h"

#include "core/timeline/pack_info.h"
#include "core/timeline/step_parts.h"

namespace tutti::tools {

using core::LinkRecord;
using core::list_of;
using core::PackRecord;
using core::PathPiece;
using core::Report;
using core::RunInfo;
using core::StepRecord;
using core::Summary;
using core::Time;
using core::unless_empty;

namespace {

Time last_start(const Summary& summary) {
  return summary.steps().empty() ? Time() : summary.steps().back().start;
}

/// Returns a report with the times of the components of a training step, or of the steady state.
template <class Step>
Report part_report(const Step& step) {
  Report report;
  for (const auto& part : named_step_parts(step))
    report.add(std::string(part.name) + "_us", part.value);
  return report;
}

Report step_report(const StepRecord& step) {
  Report report{{"step", step.step},
                {"start_us", step.start},
                {"end_us", step.end},
                {"time_us", step.end - step.start}};
  report.add(part_report(step)).add("slowest_replica", step.slowest);
  if (step.core_wait > Time()) report.add("core_wait_us", step.core_wait);
  if (!step.awaited.empty())
    report.add("awaited", step.awaited).add("awaited_for_us", step.awaited_for);
  return report;
}

Report steady_report(const Summary& summary) {
  const auto parts = summary.steady_parts();
  if (!parts) return {};
  Report report{{"steady_basis", summary.steady_basis()}};
  report.add(part_report(*parts));
  if (const auto awaited = summary.awaited())
    report.add("awaited", awaited->device).add("awaited_for_us", awaited->mean);
  return report;
}

Report interval_report(const core::SteadyState& state) {
  return {{"low_us", state.low},    {"high_us", state.high},          {"confidence", 0.95},
          {"steady", state.steady}, {"first_step", state.first_step}, {"end_step", state.end_step}};
}

Report breakdown_report(const core::Breakdown& parts) {
  Report report{{"launch_us", parts.launch}};
  for (int k = 0; k < core::kLinkKinds; ++k)
    report.add(std::string(to_string(static_cast<core::LinkKind>(k))) + "_us", parts.wire[k]);
  return report.add("latency_us", parts.latency)
      .add("queue_us", parts.queue)
      .add("reduce_us", parts.reduce)
      .add("copy_us", parts.copy);
}

Report piece_report(const PathPiece& piece, Time step_start) {
  Report report{{"what", core::span_name(piece.kind)}, {"device", piece.device}};
  if (piece.pack >= 0) report.add("pack", piece.pack);
  report.add("layer", unless_empty(piece.layer));
  report.add("start_us", piece.start - step_start).add("end_us", piece.end - step_start);
  if (piece.kind != core::SpanKind::kPackInFlight) return report;
  return report.add("parts", breakdown_report(piece.parts))
      .add("slowest_link", piece.slowest_link)
      .add("longest_wait_at", piece.queued_at)
      .add("longest_wait_us", piece.queued_time);
}

Report bound_report(const Summary& summary) {
  const RunInfo& info = summary.info();
  return {{"step_us", info.step_bound},
          {"step_time_over_bound", share(summary.step_time(), info.step_bound)},
          {"communication_us", info.communication_bound},
          {"communication_reason", info.bound_reason}};
}

Report pack_report(const PackRecord& pack, const RunInfo::PackInfo& info, Time step_start) {
  const bool band = !info.nccl.empty() && info.band_high > 0;
  Report report{{"pack", pack.pack, "pack"},
                {"", info.gradients.size(), "gradients"},
                {"bytes", info.bytes, "bytes"},
                {"type", info.type},
                {"ready_us", pack.ready - step_start, "ready"},
                {"first_start_us", pack.first_start - step_start},
                {"start_us", pack.last_start - step_start, "start"},
                {"end_us", pack.end - step_start, "end"},
                {"duration_us", pack.end - pack.last_start, "time"},
                {"",
                 band ? fmt::format("{:+.0f} % … {:+.0f} %", 100 * (info.band_low - 1),
                                    100 * (info.band_high - 1))
                      : "",
                 "?band"},
                {"nccl", unless_empty(info.nccl), "?<by NCCL",
                 info.capped_at.empty() ? "" : info.nccl + ", capped at " + info.capped_at}};
  if (!info.nccl.empty()) report.add("capped_at_bound", unless_empty(info.capped_at));
  if (band) report.add("error_band", band_report(info.band_low, info.band_high));
  report.add("gradients", info.gradients);
  report.add("", info.gradients.empty() ? "" : info.gradients.back(), "<last gradient");
  return report;
}

}  // namespace

Report scenario_report(const RunInfo& info) {
  return {{"tutti_version", info.version},
          {"scenario", info.scenario},
          {"scenario_file", info.scenario_file}};
}

Report band_report(double low, double high) { return {{"low", low}, {"high", high}}; }

std::vector<Report> pack_reports(const Summary& summary) {
  std::vector<Report> reports;
  for (const PackRecord& pack : summary.last_packs()) {
    const RunInfo::PackInfo& info = core::pack_info(summary.info(), pack.pack);
    reports.push_back(pack_report(pack, info, last_start(summary)));
  }
  return reports;
}

std::vector<Report> link_reports(const std::vector<LinkRecord>& links, core::Time length) {
  std::vector<Report> reports;
  reports.reserve(links.size());
  for (const LinkRecord& link : links) {
    reports.push_back({{"link", link.name, "<link"},
                       {"kind", to_string(link.kind), "<kind"},
                       {"bandwidth_gb_per_s", link.bandwidth, "bandwidth"},
                       {"bytes", link.bytes, "bytes"},
                       {"busy_us", link.busy},
                       {"busy_share", core::Fraction{share(link.busy, length)}, "busy"}});
  }
  return reports;
}

std::vector<Report> grouped_links(const std::vector<LinkRecord>& links, core::Time length) {
  // Compare rows by their text without the link's name, and combine rows that would look the same.
  std::map<std::string, std::size_t> groups;
  std::vector<const LinkRecord*> first;
  std::vector<std::int64_t> counts;
  for (const LinkRecord& link : links) {
    const std::string key =
        fmt::format("{} {} {} {}", to_string(link.kind), show(link.bandwidth), show(link.bytes),
                    core::show_share(share(link.busy, length)));
    const auto [group, fresh] = groups.try_emplace(key, first.size());
    if (fresh) {
      first.push_back(&link);
      counts.push_back(0);
    }
    ++counts[group->second];
  }
  std::vector<Report> rows;
  for (std::size_t g = 0; g < first.size(); ++g) {
    Report row{{"link", first[g]->name, "<link"},
               {"", counts[g] > 1 ? fmt::format("{}", counts[g]) : "", "?links"}};
    const Report link = link_reports({*first[g]}, length).front();
    for (const core::ReportField& field : link.fields()) {
      if (field.name != "link") row.add(field.name, field.value, field.title);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Report run_report(const Summary& summary, const std::optional<StepBand>& band) {
  const RunInfo& info = summary.info();
  Report report = scenario_report(info);
  report.add({{"executor", info.executor},
              {"network_model", info.network_model},
              {"seed", info.seed},
              {"cluster", info.cluster},
              {"workload", info.workload},
              {"strategy", info.strategy},
              {"timing", info.timing},
              {"replicas", info.replicas},
              {"gradient_bytes", info.gradient_bytes},
              {"step_time_us", summary.step_time()}});
  if (band) report.add("step_time_band", Report{{"low_us", band->low}, {"high_us", band->high}});
  if (summary.steady_state())
    report.add("step_time_interval", interval_report(*summary.steady_state()));
  report.add("steady_from_step", summary.steady_from());
  report.add(steady_report(summary));
  if (!info.bound_reason.empty()) report.add("lower_bound", bound_report(summary));
  report.add("steps", list_of(summary.steps(), step_report));
  if (const std::int64_t more = summary.step_count() - std::ssize(summary.steps()); more > 0)
    report.add("steps_not_listed", more);
  report.add({{"packs", pack_reports(summary)},
              {"links", link_reports(summary.busiest_links(), summary.length())},
              {"critical_path",
               list_of(summary.path(),
                       [&](const PathPiece& p) { return piece_report(p, last_start(summary)); })},
              {"critical_path_in_words", summary.path_in_words()},
              {"notes", info.notes}});
  return report;
}

}  // namespace tutti::tools
