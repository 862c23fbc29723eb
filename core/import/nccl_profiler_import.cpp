// A dump states the size of a collective as NCCL's call counts it, but not the number of ranks. The
// ranks of a communicator are those of all files of its hash, so sizes are converted at the end.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/formats/nccl_profiler.h"
#include "core/import/log_imports.h"

namespace tutti::core {
namespace {

constexpr std::string_view kProfilerFormat = "NCCL profiler plugin";

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

/// Raises the size of a communicator such that it has the given rank.
void see_rank(MeasuredGroup& group, std::int64_t rank) {
  constexpr std::int64_t kMaxRanks = 1 << 24;
  if (rank >= 0 && rank < kMaxRanks) group.size = std::max(group.size, rank + 1);
}

/// Returns the communicator with this hash, and -1 if there are too many.
std::int32_t communicator_of(MeasuredRun& run, const std::string& hash, std::int64_t rank) {
  std::int32_t found = -1;
  for (std::size_t g = 0; g < run.groups.size() && found < 0; ++g) {
    if (run.groups[g].name == hash) found = static_cast<std::int32_t>(g);
  }
  if (found < 0) found = group_index(run, MeasuredGroup{hash, "", -1, {}});
  if (found >= 0) see_rank(run.groups[found], rank);
  return found;
}

}  // namespace

Expected<void> import_nccl_profiler(ByteInput& input, const std::string& name, MeasuredRun& run) {
  std::int64_t rank_number = -1, on_gpu = 0, on_host = 0;
  std::int32_t group = -1;  // the communicator of the last collective
  std::vector<MeasuredCollective> collectives;
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> waits;
  TakeNcclProfiler take;
  take.call = [&](const NcclProfilerCall& call) {
    if (call.rank >= 0) rank_number = call.rank;
    MeasuredCollective c;
    c.kind = measured_kind_of(call.name);
    c.group = group = communicator_of(run, call.communicator, call.rank);
    c.sequence = call.sequence;
    c.type = element_type_of(call.type);
    if (call.count > 0 && c.type.bytes > 0 && call.count < std::int64_t{1} << 46)
      c.bytes = call.count * c.type.bytes;
    c.algorithm = in_lower_case(call.algorithm);
    c.protocol = in_lower_case(call.protocol);
    const std::int64_t channels = call.channels > 0 ? call.channels : call.timed_channels;
    if (channels > 0 && channels < 1 << 20) c.channels = static_cast<std::int32_t>(channels);
    if (call.gpu_begin_ns > 0 && call.gpu_end_ns >= call.gpu_begin_ns) {
      c.start_ns = call.gpu_begin_ns;
      c.end_ns = call.gpu_end_ns;
      c.duration_ns = c.end_ns - c.start_ns;
      ++on_gpu;
    } else {
      ++on_host;
    }
    collectives.push_back(std::move(c));
  };
  take.wait = [&](const NcclProfilerWait& wait) {
    auto& of = waits[{wait.name, wait.peer}];
    ++of.first;
    of.second += wait.duration_ns;
    if (group >= 0 && wait.peer >= 0) see_rank(run.groups[group], wait.peer);
  };
  if (auto read = read_nccl_profiler(input, name, take, run.counts); !read) return read;
  run.format = kProfilerFormat;
  run.files.push_back(name);
  MeasuredRank& rank = rank_of(run, "", -1, std::max<std::int64_t>(0, rank_number));
  for (MeasuredCollective& c : collectives) rank.collectives.push_back(std::move(c));
  if (on_host > 0)
    run.notes.push_back(fmt::format(
        "{}: {} of {} collectives have no times on the GPU, and are counted without times; add the "
        "bit of kernel channels (64) to NCCL_PROFILE_EVENT_MASK",
        name, on_host, on_host + on_gpu));
  // The waits for a peer are those that a slow peer causes.
  for (const std::string_view kind : {"RecvWait", "SendPeerWait"}) {
    const std::pair<const std::pair<std::string, std::int64_t>,
                    std::pair<std::int64_t, std::int64_t>>* longest = nullptr;
    for (const auto& one : waits) {
      if (one.first.first == kind &&
          (longest == nullptr || one.second.second > longest->second.second))
        longest = &one;
    }
    if (longest == nullptr) continue;
    run.notes.push_back(
        fmt::format("{}: rank {} waited longest for rank {} ({}: {} waits, {:.3f} ms in total)",
                    name, rank.rank, longest->first.second, kind, longest->second.first,
                    static_cast<double>(longest->second.second) / 1e6));
  }
  return {};
}

void finish_nccl_profiler(MeasuredRun& run) {
  if (run.format != kProfilerFormat) return;
  std::vector<std::set<std::int64_t>> ranks(run.groups.size());
  for (const MeasuredRank& rank : run.ranks) {
    for (const MeasuredCollective& c : rank.collectives) {
      if (c.group >= 0) ranks[c.group].insert(rank.rank);
    }
  }
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    if (ranks[g].empty()) continue;
    // A file may be missing, but ranks are numbered from 0, and waits name peers.
    const std::int64_t size = std::max<std::int64_t>(run.groups[g].size, 1);
    run.groups[g].size = size;
    run.world_size = std::max(run.world_size, size);
    if (static_cast<std::int64_t>(ranks[g].size()) == size)
      run.groups[g].ranks.assign(ranks[g].begin(), ranks[g].end());
    else
      run.notes.push_back(
          fmt::format("communicator {}: the files are of {} ranks, but name rank {}; "
                      "assumed: {} ranks",
                      run.groups[g].name, ranks[g].size(), size - 1, size));
  }
  for (MeasuredRank& rank : run.ranks) {
    for (MeasuredCollective& c : rank.collectives) {
      if (c.group >= 0 && c.bytes >= 0)
        c.bytes = size_of_argument(c.kind, c.bytes, run.groups[c.group].size);
    }
    std::stable_sort(rank.collectives.begin(), rank.collectives.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  }
}

}  // namespace tutti::core
