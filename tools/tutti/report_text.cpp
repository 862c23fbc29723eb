#include <algorithm>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/waiting.h"
#include "tools/tutti/report.h"
#include "tools/tutti/table.h"

namespace tutti::tools {

using core::Bytes;
using core::LinkRecord;
using core::PackRecord;
using core::RunInfo;
using core::show;
using core::show_share;
using core::StepParts;
using core::Summary;
using core::Time;

namespace {

/// Of a step: below, whom the others waited for is no news.
constexpr double kWorthTelling = 0.005;

std::string plural(std::int64_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string heading(const Summary& summary) {
  const RunInfo& info = summary.info();
  const std::string model = info.network_model.empty() ? "" : fmt::format("network model {}, ", info.network_model);
  return fmt::format("{} ({}, {}{}, seed {}, Tutti {})\n", info.scenario, info.executor, model,
                     plural(info.steps, "step"), info.seed, info.version) +
         fmt::format("  cluster   {}\n", info.cluster) +
         fmt::format("  workload  {}: {} of gradients\n", info.workload, show(info.gradient_bytes)) +
         fmt::format("  times     {}\n", info.timing) +
         fmt::format("  strategy  {}: {}\n\n", info.strategy,
                     plural(static_cast<std::int64_t>(info.packs.size()), "pack"));
}

/// What no algorithm beats on the scenario's cluster. (Of a run on other hardware it would say nothing.)
void add_bound(Table& table, const Summary& summary) {
  const RunInfo& info = summary.info();
  const double above = share(summary.step_time(), info.step_bound) - 1;
  table.row({"lower bound", show(info.step_bound), "",
             info.step_bound.count() > 0 ? fmt::format("the step time is {} above it", show_share(std::max(0.0, above)))
                                         : ""});
  table.row({"  communication", show(info.communication_bound), "", info.bound_reason});
}

/// What the numbers of the step are of, and from which step on nothing changes.
std::string basis(const Summary& summary) {
  const int steady = summary.steady_from();
  if (steady < 0) return summary.steady_basis();
  const std::string same = fmt::format("constant from step {} on", steady);
  return steady <= 1 ? same : fmt::format("{}; {}", summary.steady_basis(), same);
}

std::string step_part(const Summary& summary, const StepParts& step, const std::optional<StepBand>& band) {
  Table table({"<", "", "", "<"});
  table.row({"step time", show(step.time), "", basis(summary)});
  if (band)
    table.row({"  error band", show(band->low), "",
               fmt::format("to {}, from the error bands of NCCL's times", show(band->high))});
  table.row({"  forward", show(step.forward), show_share(share(step.forward, step.time)), ""});
  table.row({"  backward", show(step.backward), show_share(share(step.backward, step.time)), ""});
  table.row({"  copies and updates", show(step.other_compute), show_share(share(step.other_compute, step.time)), ""});
  table.row({"  exposed communication", show(step.exposed), show_share(share(step.exposed, step.time)),
             fmt::format("of {} of communication", show(step.communication))});
  if (const Time left = waiting(step); left > Time())
    table.row({"  waiting", show(left), show_share(share(left, step.time)), "neither computation nor communication"});
  if (step.slowed > Time())
    table.row({"slowed by communication", show(step.slowed), show_share(share(step.slowed, step.time)),
               "extra computation time from shared multiprocessors and memory"});
  if (const auto awaited = summary.awaited(); awaited && share(awaited->mean, summary.step_time()) >= kWorthTelling) {
    table.row({"waiting for the slowest", show(awaited->mean), show_share(share(awaited->mean, summary.step_time())),
               fmt::format("mean over replicas until the last has its gradients: {} in {} of {}", awaited->device,
                           awaited->steps, plural(awaited->of_steps, "step"))});
  }
  const RunInfo& info = summary.info();
  if (!info.bound_reason.empty()) add_bound(table, summary);
  std::string text = table.text(0);
  text.erase(0, text.find('\n') + 1);  // the table has no headings
  return text + '\n';
}

std::string path_part(const Summary& summary) {
  const std::vector<std::string> lines = summary.path_in_words();
  if (lines.empty()) return "";
  std::string text = "critical path of the last step\n";
  for (const std::string& line : lines) text += "  " + line + '\n';
  return text + '\n';
}

/// "-18 % … +16 %": where eight of ten measurements of such a time lay.
std::string band(const RunInfo::PackInfo& info) {
  if (info.nccl.empty() || info.band_high == 0) return "";
  return fmt::format("{:+.0f} % … {:+.0f} %", 100 * (info.band_low - 1), 100 * (info.band_high - 1));
}

std::string pack_part(const Summary& summary, Time step_start, int rows) {
  const std::vector<PackRecord> packs = summary.last_packs();
  if (packs.empty() || rows == 0) return "";
  std::string text =
      "packs of the last step, in launch order (times since the start of the step, on the last replica)\n";
  const std::vector<RunInfo::PackInfo>& planned = summary.info().packs;
  const bool nccl = std::any_of(planned.begin(), planned.end(), [](const auto& p) { return !p.nccl.empty(); });
  std::vector<std::string> headings{"pack", "gradients", "bytes", "ready", "start", "end", "time"};
  const bool bands = std::any_of(planned.begin(), planned.end(), [](const auto& p) { return p.band_high > 0; });
  if (bands) headings.emplace_back("band");
  if (nccl) headings.emplace_back("<by NCCL");
  headings.emplace_back("<last gradient");
  Table table(std::move(headings));
  int shown = 0;
  for (const PackRecord& pack : packs) {
    if (shown++ == rows) break;
    const RunInfo::PackInfo& info = summary.info().packs[static_cast<std::size_t>(pack.pack)];
    std::vector<std::string> row{
        std::to_string(pack.pack),       std::to_string(info.gradients.size()), show(info.bytes),
        show(pack.ready - step_start),   show(pack.last_start - step_start),    show(pack.end - step_start),
        show(pack.end - pack.last_start)};
    if (bands) row.push_back(band(info));
    if (nccl) row.push_back(info.capped_at.empty() ? info.nccl : info.nccl + ", capped at " + info.capped_at);
    row.push_back(info.gradients.empty() ? "" : info.gradients.back());
    table.row(std::move(row));
  }
  text += table.text(2);
  const int hidden = static_cast<int>(packs.size()) - rows;
  if (hidden > 0) text += fmt::format("  … and {} more (--rows {} shows all)\n", hidden, packs.size());
  return text + '\n';
}

std::string link_part(const Summary& summary, int rows) {
  const std::vector<LinkRecord> links = summary.busiest_links();
  if (links.empty() || rows == 0) return "";
  std::string text = fmt::format("busiest of {} links in use (over the whole run)\n", links.size());
  Table table({"<link", "<kind", "bandwidth", "bytes", "busy"});
  int shown = 0;
  for (const LinkRecord& link : links) {
    if (shown++ == rows) break;
    table.row({link.name, std::string(to_string(link.kind)), show(link.bandwidth), show(link.bytes),
               show_share(share(link.busy, summary.length()))});
  }
  return text + table.text(2);
}

}  // namespace

std::string report_text(const Summary& summary, int rows, const std::optional<StepBand>& band) {
  std::string text = heading(summary);
  if (const auto step = summary.steady_parts()) {
    text += step_part(summary, *step, band);
    text += path_part(summary);
    text += pack_part(summary, summary.steps().back().start, rows);
    text += link_part(summary, rows);
  } else {
    text += "no step was completed\n";
  }
  const std::vector<std::string>& notes = summary.info().notes;
  if (!notes.empty() && !text.ends_with("\n\n")) text += '\n';
  for (const std::string& note : notes) text += "note: " + note + '\n';
  return text;
}

}  // namespace tutti::tools
