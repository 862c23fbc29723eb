#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/calibration/calibration.h"

namespace tutti::core::nccl {

/// The range of times and sizes that a calibration can store, in µs and bytes.
inline constexpr double kMinMeasuredUs = 1e-3;
inline constexpr double kMaxMeasuredUs = 1e10;
inline constexpr std::int64_t kMaxMeasuredBytes = std::int64_t{1} << 50;

/// The beginning of a calibration file; other files are not overwritten.
inline constexpr const char* kCalibrationMagic = "# A calibration of NCCL's times";

/// The fields of proto/calibration.proto. ERRORS: all errors, each with file:line:column: unknown
/// fields and names, times and bytes out of range, no table, a table without rows.
Expected<Calibration> read_calibration(std::string_view text, const std::string& path,
                                       const Spread& spread);
/// Reads a calibration from a file.
Expected<Calibration> load_calibration(const std::string& path, const Spread& spread);

/// Returns the text of a calibration file. `remarks` are lines for its head, each beginning with
/// '#'.
std::string text_of(const Calibration& calibration, const std::string& remarks);

}  // namespace tutti::core::nccl
