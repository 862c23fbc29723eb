#pragma once

#include <string>
#include <vector>

#include "core/workload/workload.h"

namespace tutti::core {

// Series of pack sizes for sweeps and tuning. Each size is √2 times the previous size; smaller
// steps would change a pack by less than a gradient.

/// Returns sizes from `least` up to the first one that is at least `most`, rounded to integers.
std::vector<std::string> tried_sizes(double least, double most);
/// Returns sizes in bytes, from 64 KiB up to the first size that holds all gradients.
std::vector<std::string> tried_bytes(const Workload& workload);
/// Returns sizes in elements, from 10000 up to the first size that holds all gradients.
std::vector<std::string> tried_elements(const Workload& workload);
/// Returns sizes in MiB (not integers), from 0.25 up to the first size that holds all gradients.
std::vector<std::string> tried_mebibytes(const Workload& workload);

}  // namespace tutti::core
