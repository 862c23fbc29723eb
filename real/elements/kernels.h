#pragma once

#include <cstdint>
#include <vector>

#include "core/base/data_type.h"
#include "real/elements/element_ops.h"

namespace tutti::real {

/// Loops over elements, compiled for one instruction set and indexed by operation and data type.
/// Entry 0 is unused, because the values of core::DataType begin at 1.
struct Kernels {
  using Combine = void (*)(void* target, const void* a, const void* b, std::int64_t count);
  using Scale = void (*)(void* target, std::int64_t count, double factor);
  static constexpr int kTypes = 7;
  Combine combine[kOperations][kTypes] = {};
  Scale scale[kTypes] = {};
};

/// Return the loops of kernels.cpp. The first function returns the loops that run on any CPU, the
/// second the loops for CPUs with AVX2, FMA and F16C (x86-64-v3). Only programs for x86-64 have the
/// second function.
Kernels baseline_kernels();
Kernels v3_kernels();

/// Returns the loops that can run on this machine, the fastest last.
std::vector<Kernels> runnable_kernels();

}  // namespace tutti::real
