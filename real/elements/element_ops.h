#pragma once

#include <cstdint>

#include "core/base/data_type.h"

namespace tutti::real {

/// The operation that combines two elements in a reduction.
enum class Operation { kSum, kMin, kMax, kProduct };
inline constexpr int kOperations = 4;

/// Computes target[i] = target[i] ⊕ source[i] for `count` elements. Integers wrap around. The types
/// float16 and bfloat16 are combined as float32, and the result is rounded to the nearest, ties to
/// even. The result is NaN if an operand is NaN. REQUIRES: the ranges are identical or do not
/// overlap.
/// Cost: one pass, at memory bandwidth for ranges larger than the caches.
void combine(Operation operation, core::DataType type, void* target, const void* source,
             std::int64_t count);

/// Computes target[i] = a[i] ⊕ b[i]. Same semantics as combine().
void combine_to(Operation operation, core::DataType type, void* target, const void* a,
                const void* b, std::int64_t count);

/// Computes target[i] = target[i] · factor, rounded to the nearest (floats) or towards zero
/// (integers). For the reduction MEAN, this function divides the sum.
void scale(core::DataType type, void* target, std::int64_t count, double factor);

/// element_at() returns one element as a double. set_element() stores `value` in one element,
/// rounded as in scale().
double element_at(core::DataType type, const void* data, std::int64_t index);
void set_element(core::DataType type, void* data, std::int64_t index, double value);

}  // namespace tutti::real
