#pragma once

#include <string>

#include "core/base/units.h"

namespace tutti::core {

/// For people: "12.3 ms", "4.71 µs", "0 s"; three or four digits that matter.
std::string show(Time time);
/// "102 MB", "4.00 KB": powers of 1000.
std::string show(Bytes bytes);
/// "25.0 GB/s".
std::string show(Bandwidth bandwidth);
/// "1,048,576".
std::string show_count(std::int64_t count);
/// The least of 1, 2, 5, 10, 20, 50, … that is not below `least`: a step between the numbers of an axis.
/// REQUIRES: least <= 10^18.
std::int64_t round_step(std::int64_t least);
/// "12.3 %"; "0 %" for nothing, "<0.1 %" for nearly nothing.
std::string show_share(double share);

}  // namespace tutti::core
