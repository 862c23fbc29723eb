#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/formats/flight_recorder.h"
#include "core/import/framework_imports.h"

namespace tutti::core {
namespace {

/// Returns the number at the end of a file's name: "nccl_trace_rank_12" → 12.
std::int64_t rank_in_name(const std::string& name) {
  std::string_view text = name;
  for (const std::string_view ending : {".gz", ".json", ".pkl", ".pickle"}) {
    if (text.ends_with(ending)) text.remove_suffix(ending.size());
  }
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::string_view digits = last == std::string_view::npos ? text : text.substr(last + 1);
  return whole_number<std::int64_t>(digits).value_or(-1);
}

}  // namespace

Expected<void> import_flight_recorder(ByteInput& input, const std::string& name, MeasuredRun& run) {
  MeasuredRank rank;
  rank.rank = rank_in_name(name);
  if (rank.rank < 0 ||
      std::any_of(run.ranks.begin(), run.ranks.end(),
                  [&rank](const MeasuredRank& r) { return r.rank == rank.rank; })) {
    rank.rank = run.ranks.empty() ? 0 : run.ranks.back().rank + 1;
  }
  std::map<std::string, MeasuredGroup> groups;
  std::int64_t first_record = -1, timed = 0;
  const auto begin = [&](const FlightHeader& header) {
    for (const FlightHeader::Group& g : header.groups) {
      const auto size = static_cast<std::int64_t>(g.ranks.size());
      groups[g.name] = {g.name, g.description, size > 0 ? size : -1, g.ranks};
      if (size > 0) run.world_size = std::max(run.world_size, size);
    }
    if (run.nccl_version.empty()) run.nccl_version = header.nccl_version;
  };
  const auto take = [&](const FlightEntry& e) {
    if (first_record < 0) first_record = e.record;
    MeasuredCollective c;
    c.kind = measured_kind_of(e.name);
    c.type = element_type_of(e.type);
    const auto known = groups.find(e.group_name);
    c.group = group_index(run, known != groups.end()
                                   ? known->second
                                   : MeasuredGroup{e.group_name, e.group_description, -1, {}});
    c.sequence = e.is_point_to_point ? e.p2p_sequence : e.collective_sequence;
    const std::int64_t elements = std::max(e.input_elements, e.output_elements);
    if (elements > 0 && c.type.bytes > 0) c.bytes = elements * c.type.bytes;
    c.issued_ns = e.created_ns;
    c.duration_ns = e.duration_ns;
    if (e.duration_ns >= 0 && e.created_ns >= 0) {
      c.start_ns = e.created_ns;
      c.end_ns = e.created_ns + e.duration_ns;
      ++timed;
    }
    if (c.bytes < 0 && c.kind != MeasuredKind::kBarrier && c.kind != MeasuredKind::kOther)
      run.counts.incomplete("entry of unknown size");
    else
      run.counts.use(fmt::format("{} entry", e.state.empty() ? "stateless" : e.state));
    rank.collectives.push_back(std::move(c));
  };
  auto header = read_flight_recorder(input, name, begin, take, run.counts);
  if (!header) return tl::make_unexpected(header.error());
  run.format = "PyTorch Flight Recorder";
  run.framework = "PyTorch";
  run.files.push_back(name);
  if (first_record > 0)
    run.notes.push_back(
        fmt::format("{}: {} earlier entries were overwritten, because the ring buffer was full; "
                    "set TORCH_FR_BUFFER_SIZE to a larger number of entries",
                    name, first_record));
  if (timed == 0)
    run.notes.push_back(fmt::format(
        "{}: no entry has a duration; record with TORCH_NCCL_ENABLE_TIMING=1 for times", name));
  else
    run.notes.push_back(
        fmt::format("{}: each collective is drawn with its measured duration, from the time at "
                    "which the host issued the collective",
                    name));
  run.ranks.push_back(std::move(rank));
  return {};
}

void note_late_ranks(MeasuredRun& run) {
  struct Last {
    std::int64_t sequence = -1;
    std::vector<std::int64_t> ranks;
  };
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    // Maps the sequence number of a rank's last collective to all ranks with this number.
    std::map<std::int64_t, std::vector<std::int64_t>> by_last;
    std::map<std::int64_t, std::string> kind;
    for (const MeasuredRank& rank : run.ranks) {
      std::int64_t last = -1;
      for (const MeasuredCollective& c : rank.collectives) {
        const bool counts = c.group == static_cast<std::int32_t>(g) &&
                            c.kind != MeasuredKind::kSend && c.kind != MeasuredKind::kReceive;
        if (!counts || c.sequence < last) continue;
        last = c.sequence;
        kind[last] = to_string(c.kind);
      }
      if (last >= 0) by_last[last].push_back(rank.rank);
    }
    if (by_last.size() < 2) continue;
    const auto& [least, late] = *by_last.begin();
    const std::int64_t most = by_last.rbegin()->first;
    const MeasuredGroup& group = run.groups[g];
    std::vector<std::int64_t> shown(late.begin(),
                                    late.begin() + std::min<std::size_t>(late.size(), 8));
    run.notes.push_back(
        fmt::format("group {}: rank{} {}{} issued {} collectives (the last is {}), but other ranks "
                    "issued {} (the last is {})",
                    group.description.empty() ? group.name : group.description,
                    late.size() == 1 ? "" : "s", fmt::join(shown, ", "),
                    late.size() > shown.size() ? ", …" : "", least, kind[least], most, kind[most]));
  }
}

}  // namespace tutti::core
