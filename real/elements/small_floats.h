#pragma once

// Conversions of float16 and bfloat16, represented by their bits, to and from float32. The
// functions have no branches, so that compilers can vectorize loops. The functions are `static`,
// because kernels.cpp is compiled for several instruction sets, and each instruction set must have
// its own code.

#include <cstdint>

namespace tutti::real {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits = 0;
};

/// bfloat16: the upper half of a float32.
struct Bfloat {
  std::uint16_t bits = 0;
};

static inline float to_float(Bfloat value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
}

static inline Bfloat to_bfloat(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<std::uint16_t>(is_nan ? (bits >> 16 | 0x40) : rounded)};
}

/// Changes the exponent's bias from 15 to 127 by a multiplication, which also normalises subnormal
/// numbers.
static inline float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(value.bits & 0x7fff) << 13;
  const float scaled = __builtin_bit_cast(float, rest) * 0x1p112f;
  const std::uint32_t special = rest | 0x7f800000;  // infinity or NaN
  const std::uint32_t magnitude =
      rest >= 0x0f800000 ? special : __builtin_bit_cast(std::uint32_t, scaled);
  return __builtin_bit_cast(float, sign | magnitude);
}

/// If the result is a normal number, the function rounds by adding an integer to the bits of the
/// float32. This integer is 0xfff (one less than half a unit of the last kept bit), plus 1 if the
/// last kept bit is 1. If the result is a subnormal number, the function rounds by adding 0.5 to
/// the value: the last bit of 0.5 in float32 has the value of the last bit of a subnormal float16
/// number, so the addition itself rounds.
static inline Half to_half(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t normal = (magnitude + 0xc8000fff + (magnitude >> 13 & 1)) >> 13;
  const std::uint32_t subnormal =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) -
      __builtin_bit_cast(std::uint32_t, 0.5f);
  const std::uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  const std::uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
  return {static_cast<std::uint16_t>(sign | (magnitude >= 0x47800000 ? special : finite))};
}

}  // namespace tutti::real
