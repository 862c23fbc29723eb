#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/calibration/calibration.h"

namespace tutti::core::nccl {

/// The smallest and the largest time (in us), and the largest size (in bytes), that a calibration
/// can store.
inline constexpr double kMinMeasuredUs = 1e-3;
inline constexpr double kMaxMeasuredUs = 1e10;
inline constexpr std::int64_t kMaxMeasuredBytes = std::int64_t{1} << 50;

/// The text with which a calibration file begins. Tutti does not overwrite a file that begins with
/// another text.
inline constexpr const char* kCalibrationMagic = "# A calibration of NCCL's times";

/// Parses a calibration. The text has the fields of core/proto/calibration.proto. ERRORS: a field
/// or name is unknown; a time or size is out of range; there is no table; a table has no rows. All
/// errors are reported, each with file, line and column.
Expected<Calibration> read_calibration(std::string_view text, const std::string& path,
                                       const Spread& spread);
/// Reads a calibration from a file.
Expected<Calibration> load_calibration(const std::string& path, const Spread& spread);

/// Returns the text of a calibration file. The text begins with `remarks`, whose lines must begin
/// with '#'.
std::string text_of(const Calibration& calibration, const std::string& remarks);

}  // namespace tutti::core::nccl
