#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// The kind of work that a compute task does on a replica's device.
enum class ComputeKind : std::uint8_t {
  kForward,
  kBackward,
  kCopyIn,
  kCopyOut,
  kUpdate,
  kConvert,
  kConvertBack,
  kOperation,  ///< a computation of an execution trace (core/replay)
  kHostGap,    ///< idle time, because the host has not launched the next kernel
};
/// Returns the name that reports and timelines use: "forward", "copy into pack", …
std::string_view to_string(ComputeKind kind);

}  // namespace tutti::core
