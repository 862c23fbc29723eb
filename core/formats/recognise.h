#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The formats of traces and logs that are read.
enum class TraceFormat : std::uint8_t {
  kKineto,
  kInspector,
  kNcclLog,
  kFlightRecorder,
  kHorovod,
  kNsys
};

/// "kineto": as the command names it.
std::string_view to_string(TraceFormat format);
std::optional<TraceFormat> parse_trace_format(std::string_view name);
std::vector<std::string> trace_format_names();
/// "a trace of the PyTorch profiler": in sentences.
std::string_view described(TraceFormat format);

/// How many bytes of a file recognise() wants to see.
inline constexpr std::size_t kBytesToRecognise = std::size_t{64} << 10;

/// The format of a file that begins so, by its content alone; nothing if it is none of them.
std::optional<TraceFormat> recognise(std::string_view first_bytes);

}  // namespace tutti::core
