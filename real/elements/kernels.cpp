// The loops over elements. The loops are compiled once per instruction set (real/CMakeLists.txt).
// TUTTI_KERNELS is the name of the function that returns the loops. The functions in this file are
// local to it, except TUTTI_KERNELS, so that the linker cannot mix up the code of different
// instruction sets.

#include "real/elements/kernels.h"

#include <cmath>
#include <type_traits>

#include "real/elements/small_floats.h"

namespace tutti::real {
namespace {

/// The type in which elements are combined: float for 16-bit floats, and the unsigned type for
/// integers, so that sums and products wrap around.
template <class Element>
struct Accumulator {
  using Type = Element;
  static Type from(Element value) { return value; }
  static Element back(Type value) { return value; }
};
template <>
struct Accumulator<Half> {
  using Type = float;
  static float from(Half value) { return to_float(value); }
  static Half back(float value) { return to_half(value); }
};
template <>
struct Accumulator<Bfloat> {
  using Type = float;
  static float from(Bfloat value) { return to_float(value); }
  static Bfloat back(float value) { return to_bfloat(value); }
};

template <Operation operation, class T>
T combined(T a, T b) {
  if constexpr (operation == Operation::kSum || operation == Operation::kProduct) {
    if constexpr (std::is_integral_v<T>) {
      using Wrapping = std::make_unsigned_t<T>;
      const auto x = static_cast<Wrapping>(a), y = static_cast<Wrapping>(b);
      return static_cast<T>(operation == Operation::kSum ? x + y : x * y);
    } else {
      return operation == Operation::kSum ? a + b : a * b;
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    const bool takes_a = operation == Operation::kMin ? a < b : a > b;
    return takes_a || __builtin_isnan(a)
               ? a
               : b;  // a NaN is kept: if b is a NaN, both comparisons are false
  } else {
    return (operation == Operation::kMin ? a < b : a > b) ? a : b;
  }
}

template <Operation operation, class Element>
void combine_loop(void* target, const void* a, const void* b, std::int64_t count) {
  using Wide = Accumulator<Element>;
  auto* const t = static_cast<Element*>(target);
  const auto* const x = static_cast<const Element*>(a);
  const auto* const y = static_cast<const Element*>(b);
  for (std::int64_t i = 0; i < count; ++i)
    t[i] = Wide::back(combined<operation>(Wide::from(x[i]), Wide::from(y[i])));
}

template <class Element>
void scale_loop(void* target, std::int64_t count, double factor) {
  using Wide = Accumulator<Element>;
  auto* const t = static_cast<Element*>(target);
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<Element>) {
      t[i] =
          static_cast<Element>(static_cast<long double>(t[i]) * static_cast<long double>(factor));
    } else {
      t[i] = Wide::back(
          static_cast<typename Wide::Type>(static_cast<double>(Wide::from(t[i])) * factor));
    }
  }
}

template <class Element>
void fill(Kernels& kernels, core::DataType type) {
  const auto t = static_cast<int>(type);
  kernels.combine[static_cast<int>(Operation::kSum)][t] = combine_loop<Operation::kSum, Element>;
  kernels.combine[static_cast<int>(Operation::kMin)][t] = combine_loop<Operation::kMin, Element>;
  kernels.combine[static_cast<int>(Operation::kMax)][t] = combine_loop<Operation::kMax, Element>;
  kernels.combine[static_cast<int>(Operation::kProduct)][t] =
      combine_loop<Operation::kProduct, Element>;
  kernels.scale[t] = scale_loop<Element>;
}

}  // namespace

Kernels TUTTI_KERNELS() {
  Kernels kernels;
  fill<float>(kernels, core::DataType::kFloat32);
  fill<double>(kernels, core::DataType::kFloat64);
  fill<Half>(kernels, core::DataType::kFloat16);
  fill<Bfloat>(kernels, core::DataType::kBfloat16);
  fill<std::int32_t>(kernels, core::DataType::kInt32);
  fill<std::int64_t>(kernels, core::DataType::kInt64);
  return kernels;
}

}  // namespace tutti::real
