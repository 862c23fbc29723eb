#include "core/import/import.h"

#include <algorithm>
#include <map>

#include "core/formats/byte_input.h"
#include "core/import/framework_imports.h"
#include "core/import/kineto_import.h"
#include "core/import/log_imports.h"
#include "core/import/nsys_import.h"
#include "core/import/step_model.h"
#include "core/import/xspace_import.h"

namespace tutti::core {
namespace {

Expected<void> import_input(TraceFormat format, ByteInput& input, const std::string& name,
                            MeasuredRun& run, const std::function<void(double)>& progress) {
  switch (format) {
    case TraceFormat::kKineto: return import_kineto(input, name, run, progress);
    case TraceFormat::kInspector: return import_inspector(input, name, run, progress);
    case TraceFormat::kNcclLog: return import_nccl_log(input, name, run, progress);
    case TraceFormat::kFlightRecorder: return import_flight_recorder(input, name, run);
    case TraceFormat::kNsys: break;  // an SQLite file cannot be read as a stream
    case TraceFormat::kHorovod: return import_horovod(input, name, run, progress);
    case TraceFormat::kNcclProfiler: return import_nccl_profiler(input, name, run);
    case TraceFormat::kNcclRas: return import_nccl_ras(input, name, run);
    case TraceFormat::kXspace: return import_xspace(input, name, run, progress);
    case TraceFormat::kMlperf: return import_mlperf(input, name, run);
  }
  return {};
}

}  // namespace

Expected<void> import_file(TraceFormat format, const std::string& path, MeasuredRun& run,
                           const std::function<void(double)>& progress) {
  if (format == TraceFormat::kNsys) return import_nsys(path, run);
  const auto input = open_byte_input(path);
  if (!input) return tl::make_unexpected(input.error());
  return import_input(format, **input, path, run, progress);
}

Expected<void> import_bytes(TraceFormat format, std::string_view bytes, const std::string& name,
                            MeasuredRun& run) {
  if (format == TraceFormat::kNsys) return import_nsys_bytes(bytes, name, run);
  const auto input = byte_input_of(bytes, name);
  return import_input(format, *input, name, run, {});
}

/// Makes a worker of each host, and assigns the ranks of the host to it in ascending order.
static void place_on_hosts(MeasuredRun& run) {
  std::map<std::string, std::pair<std::int32_t, std::int32_t>>
      hosts;  // for each host, its worker and the number of its ranks so far
  for (MeasuredRank& rank : run.ranks) {
    if (rank.host.empty()) return;
    const auto [host, added] =
        hosts.try_emplace(rank.host, static_cast<std::int32_t>(hosts.size()), 0);
    rank.worker = host->second.first;
    rank.device = host->second.second++;
  }
  std::int32_t most = 0;
  for (const auto& [name, host] : hosts) most = std::max(most, host.second);
  // Set the number of GPUs per host only if there are dumps of all ranks. Otherwise a host may have
  // more GPUs than were counted.
  if (static_cast<std::int64_t>(run.ranks.size()) == run.world_size) run.gpus_per_host = most;
}

void finish_import(MeasuredRun& run) {
  std::stable_sort(run.ranks.begin(), run.ranks.end(),
                   [](const MeasuredRank& a, const MeasuredRank& b) { return a.rank < b.rank; });
  if (!run.ranks.empty()) place_on_hosts(run);
  if (run.format == "PyTorch Flight Recorder") note_late_ranks(run);
  finish_nccl_profiler(run);
  align_clocks(run);
}

}  // namespace tutti::core
