#include "core/timeline/export_csv.h"

#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

#include "core/text/csv.h"
#include "core/text/shown.h"
#include "core/timeline/pack_info.h"
#include "core/timeline/waiting.h"

namespace tutti::core {
namespace {

/// Formats a time exactly, in microseconds with six decimals.
std::string us(Time t) {
  const std::int64_t ps = t.count();
  const std::uint64_t size =
      ps < 0 ? 0 - static_cast<std::uint64_t>(ps) : static_cast<std::uint64_t>(ps);
  return fmt::format("{}{}.{:06}", ps < 0 ? "-" : "", size / 1'000'000, size % 1'000'000);
}

/// Names of devices and variables may contain any bytes, but CSV files must be UTF-8.
std::string cell(const std::string& bytes) { return csv_cell(as_utf8(bytes)); }

Expected<void> write_spans(const TimelineReader& timeline, std::ostream& out) {
  struct Row {
    const Track* track = nullptr;
    std::string device;  ///< the device's name, quoted for CSV if necessary
  };
  std::map<TrackId, Row> rows;
  for (const Track& track : timeline.tracks())
    rows[track.id] = {&track, cell(fmt::format("w{}/{}", track.worker, track.device))};
  out << "device,row,slot,lane,what,training_step,pack,index,start_us,duration_us,wait_us,bytes,"
         "from_device,from_lane,"
         "from_index\n";
  constexpr std::array<const char*, 3> kRows{"compute", "packs", "lane"};
  for (const TimelineReader::SpanBlock& block : timeline.span_blocks()) {
    const Expected<std::vector<Span>> spans = timeline.read(block);
    if (!spans) return tl::make_unexpected(spans.error());
    const auto found = rows.find(block.track);
    if (found == rows.end()) continue;
    const auto& [track, device] = found->second;
    for (const Span& span : *spans) {
      const auto peer = rows.find(span.peer);
      const bool known = span.peer != kNoTrack && peer != rows.end();
      out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", device,
                         kRows[static_cast<std::size_t>(track->kind)], track->slot,
                         track->lane < 0 ? "" : std::to_string(track->lane), span_name(span.kind),
                         span.step, span.pack < 0 ? "" : std::to_string(span.pack), span.index,
                         us(span.start), us(span.duration), us(span.wait), span.bytes.count(),
                         known ? peer->second.device : "",
                         known ? std::to_string(peer->second.track->lane) : "",
                         known ? std::to_string(span.peer_index) : "");
    }
  }
  return {};
}

void write_packs(const TimelineReader& timeline, std::ostream& out) {
  out << "training_step,pack,bytes,gradients,ready_us,first_start_us,last_start_us,end_us\n";
  for (const PackRecord& pack : timeline.packs()) {
    const RunInfo::PackInfo& info = pack_info(timeline.run(), pack.pack);
    out << fmt::format("{},{},{},{},{},{},{},{}\n", pack.step, pack.pack, info.bytes.count(),
                       info.gradients.size(), us(pack.ready), us(pack.first_start),
                       us(pack.last_start), us(pack.end));
  }
}

void write_steps(const TimelineReader& timeline, std::ostream& out) {
  out << "training_step,start_us,end_us,slowest,forward_us,backward_us,other_compute_us,"
         "communication_us,exposed_"
         "communication_us,awaited,awaited_for_us,slowed_by_communication_us,core_wait_us,waiting_"
         "us\n";
  for (const StepRecord& s : timeline.steps()) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", s.step, us(s.start),
                       us(s.end), cell(s.slowest), us(s.forward), us(s.backward),
                       us(s.other_compute), us(s.communication), us(s.exposed), cell(s.awaited),
                       us(s.awaited_for), us(s.slowed), us(s.core_wait), us(waiting(s)));
  }
}

void write_links(const TimelineReader& timeline, std::ostream& out) {
  out << "link,kind,bandwidth_gb_per_s,bytes,busy_us\n";
  for (const LinkRecord& l : timeline.links()) {
    out << fmt::format("{},{},{},{},{}\n", cell(l.name), to_string(l.kind),
                       to_gb_per_s(l.bandwidth), l.bytes.count(), us(l.busy));
  }
}

void write_path(const TimelineReader& timeline, std::ostream& out) {
  out << "what,device,pack,layer,start_us,end_us,launch_us,nvlink_us,pcie_us,socket_us,network_us,"
         "latency_us,queue_us,"
         "reduce_us,copy_us,host_us,slowest_link,"
         "queued_at,queued_us\n";
  for (const PathPiece& p : timeline.path()) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       span_name(p.kind), cell(p.device), p.pack < 0 ? "" : std::to_string(p.pack),
                       cell(p.layer), us(p.start), us(p.end), us(p.parts.launch),
                       us(p.parts.wire[0]), us(p.parts.wire[1]), us(p.parts.wire[2]),
                       us(p.parts.wire[3]), us(p.parts.latency), us(p.parts.queue),
                       us(p.parts.reduce), us(p.parts.copy), us(p.parts.host), cell(p.slowest_link),
                       cell(p.queued_at), us(p.queued_time));
  }
}

}  // namespace

std::optional<CsvContent> parse_csv_content(std::string_view name) {
  if (name == "spans") return CsvContent::kSpans;
  if (name == "packs") return CsvContent::kPacks;
  if (name == "steps") return CsvContent::kSteps;
  if (name == "links") return CsvContent::kLinks;
  if (name == "path") return CsvContent::kPath;
  return std::nullopt;
}

Expected<void> export_csv(const TimelineReader& timeline, CsvContent content, std::ostream& out) {
  switch (content) {
    case CsvContent::kSpans: return write_spans(timeline, out);
    case CsvContent::kPacks: write_packs(timeline, out); return {};
    case CsvContent::kSteps: write_steps(timeline, out); return {};
    case CsvContent::kLinks: write_links(timeline, out); return {};
    case CsvContent::kPath: write_path(timeline, out); return {};
  }
  return {};
}

}  // namespace tutti::core
