#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/formats/inspector.h"
#include "core/import/log_imports.h"

namespace tutti::core {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return text;
}

/// A process of the dump. The rank of a process is its rank in its largest communicator, which is
/// known only when the whole dump was read.
struct DumpedProcess {
  std::int64_t ranks = -1, rank = -1;
  std::vector<MeasuredCollective> collectives;
};

}  // namespace

Expected<void> import_inspector(ByteInput& input, const std::string& name, MeasuredRun& run,
                                const std::function<void(double)>& progress) {
  constexpr std::size_t kMaxProcesses = 1 << 16;
  // Identifies a process. RCCL's profiler states neither host nor process, so its ranks identify
  // processes.
  using Key = std::tuple<std::string, std::int64_t, std::int64_t>;
  std::map<Key, DumpedProcess> processes;
  std::int64_t timed = 0, untimed = 0;
  const auto take = [&](const InspectorRecord& r) {
    const Key key(r.host, r.pid, r.pid < 0 ? r.rank : -1);
    if (!processes.contains(key) && processes.size() >= kMaxProcesses) return;
    DumpedProcess& process = processes[key];
    if (r.ranks > process.ranks) process.ranks = r.ranks, process.rank = r.rank;
    MeasuredCollective c;
    c.kind = measured_kind_of(r.kind);
    MeasuredGroup group{r.communicator,
                        r.communicator_name == "unknown" ? "" : r.communicator_name,
                        r.ranks,
                        {},
                        std::max<std::int64_t>(0, r.nodes)};
    c.group = group_index(run, group);
    c.sequence = r.sequence;
    c.bytes = size_of_argument(c.kind, r.message_bytes, r.ranks);
    c.duration_ns = r.duration_ns;
    c.algorithm = lower_case(r.algorithm);
    c.protocol = lower_case(r.protocol);
    if (r.channels > 0)
      c.channels = static_cast<std::int32_t>(std::min<std::int64_t>(r.channels, 1 << 20));
    if (r.issued_us >= 0) c.issued_ns = r.issued_us * 1000;
    if (r.kernel_start_us >= 0) {
      c.start_ns = r.kernel_start_us * 1000;
      // Compute the end from the duration, which the GPU's clock measured. The duration is more
      // precise than the times at which the host observed the kernel.
      c.end_ns = r.duration_ns >= 0
                     ? c.start_ns + r.duration_ns
                     : std::max(c.start_ns, std::max<std::int64_t>(0, r.kernel_stop_us) * 1000);
      ++timed;
    } else {
      ++untimed;
    }
    if (c.duration_ns < 0)
      run.counts.incomplete("record without a duration");
    else
      run.counts.use(r.is_point_to_point ? "send or receive" : "collective");
    process.collectives.push_back(std::move(c));
  };
  if (auto read = read_inspector(input, name, take, run.counts, progress); !read) return read;
  run.format = "NCCL Inspector";
  run.files.push_back(name);
  for (auto& [key, process] : processes) {
    run.world_size = std::max(run.world_size, process.ranks);
    MeasuredRank& rank = rank_of(run, std::get<0>(key), std::get<1>(key), process.rank);
    if (rank.collectives.empty())
      rank.collectives = std::move(process.collectives);
    else
      rank.collectives.insert(rank.collectives.end(), process.collectives.begin(),
                              process.collectives.end());
  }
  if (timed == 0 && untimed > 0)
    run.notes.push_back(
        fmt::format("{}: the records have no start times, so no timeline can be written; dump with "
                    "NCCL_INSPECTOR_DUMP_VERBOSE=1",
                    name));
  return {};
}

}  // namespace tutti::core
