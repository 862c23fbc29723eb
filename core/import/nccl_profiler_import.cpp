// A dump states the size of a collective as NCCL's call counts it, but not the number of ranks. The
// ranks of a communicator are those in all files with its hash, so sizes are converted after all
// files were read.

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

/// Returns the index of the communicator with this hash; -1 if there are too many communicators.
std::int32_t communicator_of(MeasuredRun& run, const std::string& hash, std::int64_t rank) {
  std::int32_t found = -1;
  for (std::size_t g = 0; g < run.groups.size() && found < 0; ++g) {
    if (run.groups[g].name == hash) found = static_cast<std::int32_t>(g);
  }
  if (found < 0) found = group_index(run, MeasuredGroup{hash, "", -1, {}});
  if (found >= 0) see_rank(run.groups[found], rank);
  return found;
}

/// Returns a number that identifies a process among the files of a run. Processes on different
/// hosts may have the same pid, as in containers, but dumps do not name their host. Files in
/// different folders are therefore taken to be of different hosts.
std::int64_t process_number(const MeasuredRun& run, const std::string& file, std::int64_t pid) {
  const auto folder_of = [](const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
  };
  std::vector<std::string> folders;
  for (const std::string& other : run.files) {
    if (std::find(folders.begin(), folders.end(), folder_of(other)) == folders.end())
      folders.push_back(folder_of(other));
  }
  const auto index = std::find(folders.begin(), folders.end(), folder_of(file)) - folders.begin();
  constexpr std::int64_t kPids = std::int64_t{1} << 40;
  return pid < 0 || pid >= kPids ? pid : pid + index * kPids;
}

}  // namespace

Expected<void> import_nccl_profiler(ByteInput& input, const std::string& name, MeasuredRun& run) {
  std::int64_t rank_number = -1, process = -1, on_gpu = 0, on_host = 0;
  std::int32_t group = -1;  // the communicator of the last collective
  std::vector<MeasuredCollective> collectives;
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> waits;
  TakeNcclProfiler take;
  take.call = [&](const NcclProfilerCall& call) {
    if (call.rank >= 0) rank_number = call.rank;
    if (call.process >= 0) process = call.process;
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
  process = process_number(run, name, process);
  run.files.push_back(name);
  MeasuredRank& rank = rank_of(run, "", process, std::max<std::int64_t>(0, rank_number));
  for (MeasuredCollective& c : collectives) rank.collectives.push_back(std::move(c));
  if (on_host > 0)
    run.notes.push_back(fmt::format(
        "{}: {} of {} collectives have no times on the GPU, and are counted without times; add the "
        "bit of kernel channels (64) to NCCL_PROFILE_EVENT_MASK",
        name, on_host, on_host + on_gpu));
  // Only waits for a peer count, because a slow peer prolongs them.
  for (const std::string_view kind : {"RecvWait", "SendPeerWait"}) {
    const std::pair<const std::pair<std::string, std::int64_t>,
                    std::pair<std::int64_t, std::int64_t>>* longest = nullptr;
    for (const auto& one : waits) {
      if (one.first.first == kind && one.first.second >= 0 &&
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

namespace {

/// The entries of MeasuredRun::ranks that are ranks of one communicator, by rank.
using Members = std::map<std::int64_t, std::size_t>;

/// Returns, for each entry of MeasuredRun::ranks, the entry that represents its GPU: the GPU's
/// entry in its largest communicator. Entries of one process belong to one GPU if they belong to
/// different communicators, because a process that drives several GPUs has several ranks of a
/// communicator.
std::vector<std::size_t> gpus_of_entries(const MeasuredRun& run) {
  std::map<std::int64_t, std::vector<std::size_t>> processes;
  std::vector<std::set<std::int32_t>> groups(run.ranks.size());
  std::vector<std::int64_t> largest(run.ranks.size(), 0);
  std::vector<std::size_t> gpus(run.ranks.size());
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    gpus[i] = i;
    if (run.ranks[i].pid >= 0) processes[run.ranks[i].pid].push_back(i);
    for (const MeasuredCollective& c : run.ranks[i].collectives) {
      if (c.group < 0) continue;
      groups[i].insert(c.group);
      largest[i] = std::max(largest[i], run.groups[c.group].size);
    }
  }
  for (const auto& [pid, entries] : processes) {
    std::set<std::int32_t> all;
    std::size_t sum = 0, gpu = entries.front();
    for (const std::size_t i : entries) {
      all.insert(groups[i].begin(), groups[i].end());
      sum += groups[i].size();
      if (largest[i] > largest[gpu]) gpu = i;
    }
    if (all.size() != sum) continue;
    for (const std::size_t i : entries) gpus[i] = gpu;
  }
  return gpus;
}

/// Joins the entries of each GPU, and gives all GPUs different ranks.
void join_entries(MeasuredRun& run, const std::vector<Members>& members) {
  const std::vector<std::size_t> gpus = gpus_of_entries(run);
  std::set<std::int64_t> numbers;
  std::int64_t next = 0;
  bool is_unique = true;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (gpus[i] == i) is_unique = numbers.insert(run.ranks[i].rank).second && is_unique;
  }
  if (!is_unique)
    run.notes.emplace_back(
        "the dumps have several processes of the same rank in different communicators, so the "
        "processes are numbered from 0; add the dumps of the communicator that contains all "
        "processes");
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (gpus[i] == i && !is_unique) run.ranks[i].rank = next++;
    if (gpus[i] == i) continue;
    std::vector<MeasuredCollective>& to = run.ranks[gpus[i]].collectives;
    for (MeasuredCollective& c : run.ranks[i].collectives) to.push_back(std::move(c));
  }
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    if (members[g].empty() || std::ssize(members[g]) != run.groups[g].size) continue;
    run.groups[g].ranks.clear();
    for (const auto& [number, i] : members[g])
      run.groups[g].ranks.push_back(run.ranks[gpus[i]].rank);
  }
  std::vector<MeasuredRank> joined;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (gpus[i] == i) joined.push_back(std::move(run.ranks[i]));
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  run.ranks = std::move(joined);
  run.world_size = std::max(run.world_size, static_cast<std::int64_t>(run.ranks.size()));
}

}  // namespace

void finish_nccl_profiler(MeasuredRun& run) {
  if (run.format != kProfilerFormat) return;
  std::vector<Members> members(run.groups.size());
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    for (const MeasuredCollective& c : run.ranks[i].collectives) {
      if (c.group >= 0) members[c.group].emplace(run.ranks[i].rank, i);
    }
  }
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    if (members[g].empty()) continue;
    // A file may be missing, but ranks are numbered from 0, and waits name peers.
    const std::int64_t size = std::max<std::int64_t>(run.groups[g].size, 1);
    run.groups[g].size = size;
    run.world_size = std::max(run.world_size, size);
    if (std::ssize(members[g]) != size)
      run.notes.push_back(
          fmt::format("communicator {}: there are files of {} ranks, but the files mention rank "
                      "{}; assumed: the communicator has {} ranks",
                      run.groups[g].name, members[g].size(), size - 1, size));
  }
  const bool has_processes = std::none_of(run.ranks.begin(), run.ranks.end(),
                                          [](const MeasuredRank& rank) { return rank.pid < 0; });
  if (!has_processes && run.groups.size() > 1)
    run.notes.emplace_back(
        "the dumps have several communicators, but do not state their processes; assumed: "
        "processes with the same rank use the same GPU");
  join_entries(run, members);
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
