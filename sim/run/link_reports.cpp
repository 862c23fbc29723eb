#include "sim/run/link_reports.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::sim {
namespace {

using core::LinkId;
using core::LinkRecord;
using core::Time;

/// Returns the time for which a link was busy. For messages, this is their transfer time at `rate`,
/// without the limit of transfer_time(); all other traffic counts with the time for which it
/// occupied the link.
Time busy_time(LinkId id, const LinkLoads& loads, core::Bandwidth rate) {
  const core::Bytes bytes = loads.total(id) - loads.occupied(id).bytes;
  const core::Wide product = static_cast<core::Wide>(bytes.count()) * core::kPicosecondsPerSecond;
  const core::Wide ps =
      (product + static_cast<core::Wide>(rate.count()) - 1) / static_cast<core::Wide>(rate.count());
  const core::Wide all = ps + static_cast<core::Wide>(loads.occupied(id).busy.count());
  return Time(
      static_cast<std::int64_t>(std::min(all, static_cast<core::Wide>(core::kNever.count()))));
}

LinkRecord record_of(LinkId id, const LinkLoads& loads, const core::Cluster& cluster) {
  const core::Hop link = cluster.link(id);
  LinkRecord record{cluster.link_name(id),
                    link.kind,
                    link.bandwidth,
                    loads.total(id),
                    busy_time(id, loads, link.bandwidth),
                    {},
                    {}};
  if (loads.bins(id).empty()) return record;
  record.bin_width = loads.bin_width();
  record.bins = loads.bins(id);
  while (!record.bins.empty() && record.bins.back() == 0) record.bins.pop_back();
  return record;
}

/// If a link's busy time exceeds the length of the run, adds a note about the link with the longest
/// busy time.
void note_overload(const LinkLoads& loads, const core::Cluster& cluster, Time length,
                   core::TimelineSink& sink) {
  LinkId most = -1;
  Time busy = length;
  for (LinkId id = 0; length > Time() && id < loads.links(); ++id) {
    if (loads.total(id).count() == 0) continue;
    const Time of_link = busy_time(id, loads, cluster.link(id).bandwidth);
    if (of_link <= busy) continue;
    most = id;
    busy = of_link;
  }
  if (most < 0) return;
  sink.note(
      fmt::format("the ideal network model ignores links between ports, but {} would have to carry "
                  "{:.1f} times its capacity; use network_model FIFO or FAIR",
                  cluster.link_name(most), core::to_us(busy) / core::to_us(length)));
}

}  // namespace

void report_links(const LinkLoads& loads, const core::Cluster& simulated,
                  const core::Cluster& timeline_cluster, bool ports_alone, Time length,
                  core::TimelineSink& sink) {
  // Pass the records to the sink one by one instead of collecting them, because there may be
  // millions of links.
  if (ports_alone) note_overload(loads, simulated, length, sink);
  const std::int64_t workers_per_simulated = timeline_cluster.workers() / simulated.workers();
  constexpr std::int64_t kMaxCopies = 65'536;
  const bool copies = loads.links() * workers_per_simulated <= kMaxCopies;
  // Links are numbered worker by worker.
  for (std::int64_t copy = 0; copy < (copies ? workers_per_simulated : 1); ++copy) {
    for (LinkId id = 0; id < loads.links(); ++id) {
      if (loads.total(id).count() == 0) continue;
      LinkRecord record = record_of(id, loads, simulated);
      if (ports_alone) record.busy = std::min(record.busy, length);
      if (copy > 0) {
        record.name = timeline_cluster.link_name(copy * loads.links() + id);
        record.bins.clear();
      }
      sink.link(record);
    }
  }
  if (workers_per_simulated > 1 && !copies)
    sink.note(
        "only links of worker 0 are listed, because the links of every other worker carry the same "
        "load");
}

}  // namespace tutti::sim
