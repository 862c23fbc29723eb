#pragma once

#include <string>
#include <vector>

#include "core/workload/workload.h"

namespace tutti::core {

// Pack sizes that are worth trying: in steps of the square root of two, since finer steps differ by
// less than a gradient.

/// Returns sizes from `least` up to one that holds `most`, in whole numbers.
std::vector<std::string> tried_sizes(double least, double most);
/// Returns sizes in bytes, from 64 KiB up to one that holds all gradients.
std::vector<std::string> tried_bytes(const Workload& workload);
/// Returns sizes in elements, from 10000 up to one that holds all gradients.
std::vector<std::string> tried_elements(const Workload& workload);
/// Returns sizes in MiB, from a quarter up to one that holds all gradients; not whole numbers.
std::vector<std::string> tried_mebibytes(const Workload& workload);

}  // namespace tutti::core
