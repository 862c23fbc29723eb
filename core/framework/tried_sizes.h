#pragma once

#include <string>
#include <vector>

#include "core/workload/workload.h"

namespace tutti::core {

// Functions that return lists of pack sizes for sweeps and tuning. Each size is 1.5 or 1.33 times
// the previous size, so that every size is a round number that can be pasted into a training script
// (1 MiB, 1.5 MiB, 2 MiB, 3 MiB). With smaller factors, many packs would change by less than one
// gradient.

/// Returns sizes from `least` to the first size that is at least `most`, rounded to integers.
std::vector<std::string> tried_sizes(double least, double most);
/// Returns sizes in bytes, from 64 KiB to the first size that holds all gradients.
std::vector<std::string> tried_bytes(const Workload& workload);
/// Returns sizes in elements, from 10000 to the first size that holds all gradients.
std::vector<std::string> tried_elements(const Workload& workload);
/// Returns sizes in MiB, which need not be integers, from 0.25 to the first size that holds all
/// gradients.
std::vector<std::string> tried_mebibytes(const Workload& workload);

}  // namespace tutti::core
