#pragma once

// The operations of CUDA kernels on single elements. The same code also compiles for the host,
// where tests compare it with real/elements/element_ops.h without a device.

#include <cstdint>
#include <cstring>

#include "real/elements/small_floats.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define TUTTI_DEVICE __host__ __device__ __forceinline__
#else
#define TUTTI_DEVICE inline
#endif

namespace tutti::real::cuda {

enum class Op { kSum, kMin, kMax, kProduct };

template <class To, class From>
TUTTI_DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// The type in which elements are combined: float32 for float16 and bfloat16, and the element type
/// itself for all other types. (combined() converts integers to unsigned integers, so that sums and
/// products wrap around.)
template <class Element>
struct Wide {
  using Type = Element;
  static TUTTI_DEVICE Type from(Element value) { return value; }
  static TUTTI_DEVICE Element back(Type value) { return value; }
};

template <>
struct Wide<Half> {
  using Type = float;
  static TUTTI_DEVICE float from(Half value) {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(value.bits));
#else
    return to_float(value);
#endif
  }
  static TUTTI_DEVICE Half back(float value) {
#ifdef __CUDA_ARCH__
    return {__half_as_ushort(__float2half_rn(value))};
#else
    return to_half(value);
#endif
  }
};

template <>
struct Wide<Bfloat> {
  using Type = float;
  static TUTTI_DEVICE float from(Bfloat value) {
    return bits_as<float>(static_cast<std::uint32_t>(value.bits) << 16);
  }
  static TUTTI_DEVICE Bfloat back(float value) {
#ifdef __CUDA_ARCH__
    return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
#else
    return to_bfloat(value);
#endif
  }
};

template <Op op>
TUTTI_DEVICE float combined(float a, float b) {
  if constexpr (op == Op::kSum) return a + b;
  if constexpr (op == Op::kProduct) return a * b;
  const bool takes_a = op == Op::kMin ? a < b : a > b;
  return takes_a || a != a ? a : b;  // NaN wins: no comparison is true if b is NaN
}

template <Op op>
TUTTI_DEVICE double combined(double a, double b) {
  if constexpr (op == Op::kSum) return a + b;
  if constexpr (op == Op::kProduct) return a * b;
  const bool takes_a = op == Op::kMin ? a < b : a > b;
  return takes_a || a != a ? a : b;
}

template <Op op>
TUTTI_DEVICE std::int32_t combined(std::int32_t a, std::int32_t b) {
  const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
  if constexpr (op == Op::kSum) return static_cast<std::int32_t>(x + y);
  if constexpr (op == Op::kProduct) return static_cast<std::int32_t>(x * y);
  return (op == Op::kMin ? a < b : a > b) ? a : b;
}

template <Op op>
TUTTI_DEVICE std::int64_t combined(std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  if constexpr (op == Op::kSum) return static_cast<std::int64_t>(x + y);
  if constexpr (op == Op::kProduct) return static_cast<std::int64_t>(x * y);
  return (op == Op::kMin ? a < b : a > b) ? a : b;
}

/// Returns a ⊕ b, rounded to the element's type; `op` is the operation ⊕.
template <Op op, class Element>
TUTTI_DEVICE Element combined_element(Element a, Element b) {
  return Wide<Element>::back(combined<op>(Wide<Element>::from(a), Wide<Element>::from(b)));
}

/// Returns value · factor, with the same result as on the host. The product is rounded to 64
/// significant bits (the precision of x86's long double), ties to even, and then truncated to an
/// integer. Devices have no long double, so this function uses integer arithmetic.
/// REQUIRES: |factor| ≤ 1, or the product fits into 64 bits.
TUTTI_DEVICE std::int64_t scaled_integer(std::int64_t value, double factor) {
  const auto factor_bits = bits_as<std::uint64_t>(factor);
  const int biased = static_cast<int>(factor_bits >> 52 & 0x7ff);
  // With a factor below 2^-1022, the product truncates to 0.
  if (value == 0 || biased == 0) return 0;
  const std::uint64_t mantissa =
      (factor_bits & 0xfffffffffffffULL) | 0x10000000000000ULL;  // |factor| = mantissa · 2^exponent
  const int exponent = biased - 1075;
  const bool negative = (value < 0) != (factor_bits >> 63 != 0);
  const std::uint64_t magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  // Compute the product, which has at most 117 bits, as two words of 64 bits.
#ifdef __CUDA_ARCH__
  std::uint64_t high = __umul64hi(magnitude, mantissa);
#else
  __extension__ using Product = unsigned __int128;
  auto high = static_cast<std::uint64_t>(static_cast<Product>(magnitude) * mantissa >> 64);
#endif
  std::uint64_t low = magnitude * mantissa;
  int shift = exponent;  // value · factor = (high, low) · 2^shift
  if (high != 0) {
    int extra = 0;  // number of bits of the product beyond the 64 kept bits: 1 to 53
    while (high >> extra != 0) ++extra;
    const std::uint64_t cut = low & ((1ULL << extra) - 1);
    const std::uint64_t half = 1ULL << (extra - 1);
    std::uint64_t kept = high << (64 - extra) | low >> extra;
    shift += extra;
    if (cut > half || (cut == half && (kept & 1) != 0)) {
      if (++kept == 0) {  // rounded up to the next power of two
        kept = 1ULL << 63;
        ++shift;
      }
    }
    low = kept;
  }
  const std::uint64_t whole = shift <= -64 ? 0
                              : shift < 0  ? low >> -shift
                              : shift < 64 ? low << shift
                                           : 0;
  return static_cast<std::int64_t>(negative ? 0 - whole : whole);
}

TUTTI_DEVICE float scaled(float value, double factor) {
  return static_cast<float>(static_cast<double>(value) * factor);
}
TUTTI_DEVICE double scaled(double value, double factor) { return value * factor; }
TUTTI_DEVICE Half scaled(Half value, double factor) {
  return Wide<Half>::back(scaled(Wide<Half>::from(value), factor));
}
TUTTI_DEVICE Bfloat scaled(Bfloat value, double factor) {
  return Wide<Bfloat>::back(scaled(Wide<Bfloat>::from(value), factor));
}
TUTTI_DEVICE std::int64_t scaled(std::int64_t value, double factor) {
  return scaled_integer(value, factor);
}
TUTTI_DEVICE std::int32_t scaled(std::int32_t value, double factor) {
  return static_cast<std::int32_t>(scaled_integer(value, factor));
}

}  // namespace tutti::real::cuda
