#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Formats a time with three or four significant digits: "12.3 ms", "4.71 µs", "0 s".
std::string show(Time time);
/// Formats times that a reader will compare. Times that differ are printed with enough digits to
/// look different, up to seven significant digits.
std::vector<std::string> show_distinct(const std::vector<Time>& times);
/// Formats a size with powers of 1000: "102 MB", "4.00 KB".
std::string show(Bytes bytes);
/// Formats a size without rounding, in a unit in which the size is a whole number: "25 MiB", "4
/// MB", "1000001 bytes".
std::string show_exact(Bytes bytes);
/// Formats a rate: "25.0 GB/s".
std::string show(Bandwidth bandwidth);
/// Formats a count with thousands separators: "1,048,576".
std::string show_count(std::int64_t count);
/// Returns the smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`. The result is used as
/// the distance between the labels of an axis. REQUIRES: least ≤ 10^18.
std::int64_t round_step(std::int64_t least);
/// Formats a share (0 … 1) as a percentage: "12.3 %". Zero is "0 %"; shares below 0.001 are "<0.1
/// %".
std::string show_share(double share);

}  // namespace tutti::core
