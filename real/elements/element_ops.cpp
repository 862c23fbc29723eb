#include "real/elements/element_ops.h"

#include <cmath>

#include "core/base/check.h"
#include "real/elements/kernels.h"
#include "real/elements/small_floats.h"

namespace tutti::real {
namespace {

using core::DataType;

/// Returns the best loops for this machine. The choice is made once.
const Kernels& kernels() {
  static const Kernels chosen = runnable_kernels().back();
  return chosen;
}

}  // namespace

std::vector<Kernels> runnable_kernels() {
  std::vector<Kernels> runnable{baseline_kernels()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    runnable.push_back(v3_kernels());
#endif
  return runnable;
}

void combine(Operation operation, DataType type, void* target, const void* source,
             std::int64_t count) {
  combine_to(operation, type, target, target, source, count);
}

void combine_to(Operation operation, DataType type, void* target, const void* a, const void* b,
                std::int64_t count) {
  TUTTI_CHECK(count >= 0, "count = {}", count);
  kernels().combine[static_cast<int>(operation)][static_cast<int>(type)](target, a, b, count);
}

void scale(DataType type, void* target, std::int64_t count, double factor) {
  TUTTI_CHECK(count >= 0, "count = {}", count);
  kernels().scale[static_cast<int>(type)](target, count, factor);
}

double element_at(DataType type, const void* data, std::int64_t index) {
  switch (type) {
    case DataType::kFloat32: return static_cast<double>(static_cast<const float*>(data)[index]);
    case DataType::kFloat64: return static_cast<const double*>(data)[index];
    case DataType::kFloat16:
      return static_cast<double>(to_float(static_cast<const Half*>(data)[index]));
    case DataType::kBfloat16:
      return static_cast<double>(to_float(static_cast<const Bfloat*>(data)[index]));
    case DataType::kInt32:
      return static_cast<double>(static_cast<const std::int32_t*>(data)[index]);
    case DataType::kInt64:
      return static_cast<double>(static_cast<const std::int64_t*>(data)[index]);
  }
  return 0;
}

void set_element(DataType type, void* data, std::int64_t index, double value) {
  switch (type) {
    case DataType::kFloat32: static_cast<float*>(data)[index] = static_cast<float>(value); return;
    case DataType::kFloat64: static_cast<double*>(data)[index] = value; return;
    case DataType::kFloat16:
      static_cast<Half*>(data)[index] = to_half(static_cast<float>(value));
      return;
    case DataType::kBfloat16:
      static_cast<Bfloat*>(data)[index] = to_bfloat(static_cast<float>(value));
      return;
    case DataType::kInt32:
      static_cast<std::int32_t*>(data)[index] = static_cast<std::int32_t>(value);
      return;
    case DataType::kInt64:
      static_cast<std::int64_t*>(data)[index] = static_cast<std::int64_t>(value);
      return;
  }
}

}  // namespace tutti::real
