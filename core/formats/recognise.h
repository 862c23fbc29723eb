#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The formats of traces and logs that Tutti imports.
enum class TraceFormat : std::uint8_t {
  kKineto,
  kInspector,
  kNcclLog,
  kFlightRecorder,
  kHorovod,
  kNsys,
  kNcclProfiler,
  kNcclRas,
  kXspace,
  kMlperf
};

/// Returns the name of the format on the command line: "kineto".
std::string_view to_string(TraceFormat format);
std::optional<TraceFormat> parse_trace_format(std::string_view name);
std::vector<std::string> trace_format_names();
/// Returns a description of the format for use in sentences: "a trace of the PyTorch profiler".
std::string_view described(TraceFormat format);

/// The number of bytes of a file that recognise() needs.
inline constexpr std::size_t kBytesToRecognise = std::size_t{64} << 10;

/// Recognises the format of a file by its first bytes. Returns nullopt if the format is unknown.
std::optional<TraceFormat> recognise(std::string_view first_bytes);

}  // namespace tutti::core
