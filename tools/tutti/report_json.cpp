#include "core/timeline/waiting.h"
#include "tools/tutti/json.h"
#include "tools/tutti/report.h"

namespace tutti::tools {

using core::LinkRecord;
using core::PackRecord;
using core::PathPiece;
using core::RunInfo;
using core::StepRecord;
using core::Summary;
using core::Time;

namespace {

void write_run(Json& json, const RunInfo& info) {
  json.field("tutti_version", std::string_view(info.version));
  json.field("scenario", std::string_view(info.scenario));
  json.field("scenario_file", std::string_view(info.scenario_file));
  json.field("executor", std::string_view(info.executor));
  json.field("network_model", std::string_view(info.network_model));
  json.field("seed", info.seed);
  json.field("cluster", std::string_view(info.cluster));
  json.field("workload", std::string_view(info.workload));
  json.field("strategy", std::string_view(info.strategy));
  json.field("timing", std::string_view(info.timing));
  json.field("replicas", info.replicas);
  json.field("gradient_bytes", info.gradient_bytes);
}

void write_step(Json& json, const StepRecord& step) {
  json.field("forward_us", step.forward);
  json.field("backward_us", step.backward);
  json.field("other_compute_us", step.other_compute);
  json.field("communication_us", step.communication);
  json.field("exposed_communication_us", step.exposed);
  json.field("waiting_us", waiting(step));
  json.field("slowed_by_communication_us", step.slowed);
  json.field("slowest_replica", std::string_view(step.slowest));
  if (step.core_wait > core::Time()) json.field("core_wait_us", step.core_wait);
  if (step.awaited.empty()) return;
  json.field("awaited", std::string_view(step.awaited));
  json.field("awaited_for_us", step.awaited_for);
}

/// Of the steady state, under the names that a step's record has them by.
void write_steady(Json& json, const Summary& summary) {
  const auto parts = summary.steady_parts();
  if (!parts) return;
  json.field("steady_basis", std::string_view(summary.steady_basis()));
  json.field("forward_us", parts->forward);
  json.field("backward_us", parts->backward);
  json.field("other_compute_us", parts->other_compute);
  json.field("communication_us", parts->communication);
  json.field("exposed_communication_us", parts->exposed);
  json.field("waiting_us", waiting(*parts));
  json.field("slowed_by_communication_us", parts->slowed);
  if (const auto awaited = summary.awaited()) {
    json.field("awaited", std::string_view(awaited->device));
    json.field("awaited_for_us", awaited->mean);
  }
}

void write_piece(Json& json, const PathPiece& piece, Time step_start) {
  json.object([&] {
    json.field("what", std::string_view(core::span_name(piece.kind)));
    json.field("device", std::string_view(piece.device));
    if (piece.pack >= 0) json.field("pack", piece.pack);
    if (!piece.layer.empty()) json.field("layer", std::string_view(piece.layer));
    json.field("start_us", piece.start - step_start);
    json.field("end_us", piece.end - step_start);
    if (piece.kind != core::SpanKind::kPackInFlight) return;
    json.key("parts").object([&] {
      json.field("launch_us", piece.parts.launch);
      for (int k = 0; k < core::kLinkKinds; ++k) {
        json.field(std::string(to_string(static_cast<core::LinkKind>(k))) + "_us",
                   piece.parts.wire[static_cast<std::size_t>(k)]);
      }
      json.field("latency_us", piece.parts.latency);
      json.field("queue_us", piece.parts.queue);
      json.field("reduce_us", piece.parts.reduce);
      json.field("copy_us", piece.parts.copy);
    });
    json.field("slowest_link", std::string_view(piece.slowest_link));
    json.field("longest_wait_at", std::string_view(piece.queued_at));
    json.field("longest_wait_us", piece.queued_time);
  });
}

void write_packs(Json& json, const Summary& summary, Time step_start) {
  json.key("packs").array(summary.last_packs(), [&](const PackRecord& pack) {
    const RunInfo::PackInfo& info = summary.info().packs[static_cast<std::size_t>(pack.pack)];
    json.object([&] {
      json.field("pack", pack.pack);
      json.field("bytes", info.bytes);
      json.field("type", std::string_view(info.type));
      json.field("ready_us", pack.ready - step_start);
      json.field("first_start_us", pack.first_start - step_start);
      json.field("start_us", pack.last_start - step_start);
      json.field("end_us", pack.end - step_start);
      json.field("duration_us", pack.end - pack.last_start);
      if (!info.nccl.empty()) {
        json.field("nccl", std::string_view(info.nccl));
        if (!info.capped_at.empty()) json.field("capped_at_bound", std::string_view(info.capped_at));
        if (info.band_high > 0) {
          json.key("error_band").object([&] {
            json.field("low", info.band_low);
            json.field("high", info.band_high);
          });
        }
      }
      json.key("gradients").array(info.gradients, [&](const std::string& name) { json.value(std::string_view(name)); });
    });
  });
}

void write_links(Json& json, const Summary& summary) {
  json.key("links").array(summary.busiest_links(), [&](const LinkRecord& link) {
    json.object([&] {
      json.field("link", std::string_view(link.name));
      json.field("kind", to_string(link.kind));
      json.field("bandwidth_gb_per_s", core::to_gb_per_s(link.bandwidth));
      json.field("bytes", link.bytes);
      json.field("busy_us", link.busy);
      json.field("busy_share", share(link.busy, summary.length()));
    });
  });
}

}  // namespace

std::string report_json(const Summary& summary, const std::optional<StepBand>& band) {
  Json json;
  json.object([&] {
    write_run(json, summary.info());
    const Time step_start = summary.steps().empty() ? Time() : summary.steps().back().start;
    json.field("step_time_us", summary.step_time());
    if (band) {
      json.key("step_time_band").object([&] {
        json.field("low_us", band->low);
        json.field("high_us", band->high);
      });
    }
    json.field("steady_from_step", summary.steady_from());
    write_steady(json, summary);
    if (!summary.info().bound_reason.empty())
      json.key("lower_bound").object([&] {
        json.field("step_us", summary.info().step_bound);
        json.field("step_time_over_bound", share(summary.step_time(), summary.info().step_bound));
        json.field("communication_us", summary.info().communication_bound);
        json.field("communication_reason", std::string_view(summary.info().bound_reason));
      });
    json.key("steps").array(summary.steps(), [&](const StepRecord& s) {
      json.object([&] {
        json.field("step", s.step);
        json.field("start_us", s.start);
        json.field("end_us", s.end);
        json.field("time_us", s.end - s.start);
        write_step(json, s);
      });
    });
    write_packs(json, summary, step_start);
    write_links(json, summary);
    json.key("critical_path").array(summary.path(), [&](const PathPiece& piece) {
      write_piece(json, piece, step_start);
    });
    json.key("critical_path_in_words").array(summary.path_in_words(), [&](const std::string& line) {
      json.value(std::string_view(line));
    });
    json.key("notes").array(summary.info().notes, [&](const std::string& note) { json.value(std::string_view(note)); });
  });
  return json.text();
}

}  // namespace tutti::tools
