#include "sim/run/link_reports.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tutti::sim {
namespace {

using core::LinkId;
using core::LinkRecord;
using core::Time;

/// As transfer_time, for a whole run, which may take longer than any message. Traffic other than
/// messages counts with the time that it occupied the link.
Time busy_time(LinkId id, const LinkLoads& loads, core::Bandwidth rate) {
  const core::Bytes bytes = loads.total(id) - loads.held_bytes(id);
  const core::Wide product = static_cast<core::Wide>(bytes.count()) * core::kPicosecondsPerSecond;
  const core::Wide ps =
      (product + static_cast<core::Wide>(rate.count()) - 1) / static_cast<core::Wide>(rate.count());
  const core::Wide all = ps + static_cast<core::Wide>(loads.held(id).count());
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

}  // namespace

void tell_links(const LinkLoads& loads, const core::Cluster& simulated, const core::Cluster& told,
                bool ports_alone, Time length, core::TimelineSink& sink) {
  std::vector<std::pair<LinkId, LinkRecord>> records;
  const LinkRecord* too_busy = nullptr;
  for (LinkId id = 0; id < loads.links(); ++id) {
    if (loads.total(id).count() == 0) continue;
    records.emplace_back(id, record_of(id, loads, simulated));
  }
  for (const auto& [id, record] : records) {
    if (ports_alone && length > Time() && record.busy > length &&
        (!too_busy || record.busy > too_busy->busy))
      too_busy = &record;
  }
  if (too_busy)
    sink.note(
        fmt::format("the ideal network does not model the links between ports: {} would have to "
                    "carry {:.1f} times its capacity (network_model FIFO and FAIR model them)",
                    too_busy->name, core::to_us(too_busy->busy) / core::to_us(length)));
  for (auto& [id, record] : records) {
    if (ports_alone) record.busy = std::min(record.busy, length);
    sink.link(record);
  }
  const std::int64_t fellows = told.workers() / simulated.workers();
  if (fellows == 1) return;
  constexpr std::int64_t kMaxCopies = 65'536;
  if (loads.links() * fellows > kMaxCopies)
    return sink.note(
        "only links of worker 0 are listed; those of every other worker carry the same load");
  // Links are numbered worker by worker.
  for (std::int64_t fellow = 1; fellow < fellows; ++fellow) {
    for (auto& [id, record] : records) {
      record.name = told.link_name(fellow * loads.links() + id);
      record.bins.clear();
      sink.link(record);
    }
  }
}

}  // namespace tutti::sim
