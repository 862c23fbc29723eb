#include "core/formats/recognise.h"

#include <array>

#include "core/formats/nccl_ras.h"
#include "core/formats/xspace.h"

namespace tutti::core {
namespace {

struct FormatName {
  TraceFormat format;
  std::string_view name, described;
};
constexpr std::array kFormats{
    FormatName{TraceFormat::kKineto, "kineto", "a trace of the PyTorch profiler"},
    FormatName{TraceFormat::kInspector, "inspector", "a dump of the NCCL Inspector"},
    FormatName{TraceFormat::kNcclLog, "nccl-log", "a log of NCCL (NCCL_DEBUG=INFO)"},
    FormatName{TraceFormat::kFlightRecorder, "flight-recorder",
               "a dump of PyTorch's Flight Recorder"},
    FormatName{TraceFormat::kHorovod, "horovod", "a timeline of Horovod"},
    FormatName{TraceFormat::kNsys, "nsys", "an SQLite export of Nsight Systems"},
    FormatName{TraceFormat::kNcclProfiler, "nccl-profiler",
               "a dump of NCCL's example profiler plugin"},
    FormatName{TraceFormat::kNcclRas, "nccl-ras", "a status of NCCL's RAS (ncclras)"},
    FormatName{TraceFormat::kXspace, "xspace", "a profile of TensorFlow or JAX (*.xplane.pb)"},
    FormatName{TraceFormat::kMlperf, "mlperf", "a log of MLPerf training"},
};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::string_view to_string(TraceFormat format) {
  for (const FormatName& known : kFormats) {
    if (known.format == format) return known.name;
  }
  return "";
}

std::optional<TraceFormat> parse_trace_format(std::string_view name) {
  for (const FormatName& known : kFormats) {
    if (known.name == name) return known.format;
  }
  return std::nullopt;
}

std::vector<std::string> trace_format_names() {
  std::vector<std::string> names;
  for (const FormatName& known : kFormats) names.emplace_back(known.name);
  return names;
}

std::string_view described(TraceFormat format) {
  for (const FormatName& known : kFormats) {
    if (known.format == format) return known.described;
  }
  return "";
}

std::optional<TraceFormat> recognise(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.starts_with(std::string_view("SQLite format 3\0", 16))) return TraceFormat::kNsys;
  if (is_xspace(text)) return TraceFormat::kXspace;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  const bool is_json = text.front() == '{' || text.front() == '[';
  // Search the whole text, because output of a launcher may precede the lines of the dump.
  if (holds(text, "\"coll_perf\"") || holds(text, "\"p2p_perf\"")) return TraceFormat::kInspector;
  if (is_json && (holds(text, "\"collective_seq_id\"") || holds(text, "\"pg_config\": {") ||
                  holds(text, "\"pg_config\":{")))
    return TraceFormat::kFlightRecorder;
  // PyTorch 2.2 wrote a list of entries.
  if (text.front() == '\x80' &&
      (holds(text, "entries") || holds(text, "pg_config") || holds(text, "profiling_name")))
    return TraceFormat::kFlightRecorder;
  if (text.front() == '[' && holds(text, "\"profiling_name\"")) return TraceFormat::kFlightRecorder;
  if (is_json &&
      (holds(text, "\"NEGOTIATE_") || holds(text, "\"start_time_since_epoch_in_micros\"")))
    return TraceFormat::kHorovod;
  if (is_json && (holds(text, "\"cat\": \"COLL\"") || holds(text, "\"cat\":\"COLL\"") ||
                  holds(text, "\"GROUP_API\"") || holds(text, "\"StartGpuClk\"")))
    return TraceFormat::kNcclProfiler;
  if (is_nccl_ras(text)) return TraceFormat::kNcclRas;
  if (is_json && (holds(text, "\"traceEvents\"") || holds(text, "\"ph\"")))
    return TraceFormat::kKineto;
  // NVIDIA's scripts print descriptions of the run and of the system before the first record, and
  // NCCL may print its messages there.
  if (holds(text, ":::MLLOG") || holds(text, ":::SYSJSON") || holds(text, ":::DLPAL"))
    return TraceFormat::kMlperf;
  if (holds(text, "NCCL INFO ") || holds(text, "NCCL version ")) return TraceFormat::kNcclLog;
  return std::nullopt;
}

}  // namespace tutti::core
