#pragma once

#include <string>
#include <vector>

#include "core/workload/workload.h"

namespace tutti::core {

// Pack sizes that are worth trying: in steps of the square root of two, as finer ones differ by less than a gradient.

/// From `least` to what holds `most`, in whole numbers.
std::vector<std::string> tried_sizes(double least, double most);
/// In bytes, from 64 KiB to what holds all gradients.
std::vector<std::string> tried_bytes(const Workload& workload);
/// In elements, from 10000 to what holds all gradients.
std::vector<std::string> tried_elements(const Workload& workload);
/// In MiB, from a quarter to what holds all gradients; not whole numbers.
std::vector<std::string> tried_mebibytes(const Workload& workload);

}  // namespace tutti::core
