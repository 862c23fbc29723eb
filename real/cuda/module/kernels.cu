// Kernels over elements are memory-bound. If all ranges have the same alignment, a thread moves 16
// bytes at a time and advances by the width of the grid; unaligned elements at the ends are
// processed one by one. If the ranges have different alignments, all elements are processed one by
// one. Nothing is read or written outside a range.

#include "real/cuda/module/kernels.h"

#include <algorithm>

#include "real/cuda/module/elements.h"

namespace tutti::real::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;  // 2048 threads, as many as there is room for
constexpr int kVectorBytes = 16;

/// Division of `count` elements: `head` single elements up to a 16-byte boundary, `vectors` of 16
/// bytes, and the remaining single elements.
struct Split {
  std::int64_t count = 0;
  std::int64_t head = 0;
  std::int64_t vectors = 0;
};

template <class Element>
inline constexpr int kPerVector = kVectorBytes / static_cast<int>(sizeof(Element));

template <class Element>
Split split_of(std::int64_t count, const void* target, const void* a, const void* b,
               std::int64_t stride) {
  const auto offset = [](const void* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % kVectorBytes);
  };
  const std::int64_t t = offset(target);
  if (offset(a) != t || offset(b) != t || stride % kVectorBytes != 0) return {count, count, 0};
  const std::int64_t item = sizeof(Element);
  if (t % item != 0) return {count, count, 0};
  const std::int64_t head = std::min(count, t == 0 ? 0 : (kVectorBytes - t) / item);
  return {count, head, (count - head) / kPerVector<Element>};
}

unsigned blocks_for(const Place& place, const Split& split, int per_vector) {
  const std::int64_t singles = split.count - split.vectors * per_vector;
  const std::int64_t threads = std::max(split.vectors, singles);
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  const std::int64_t most =
      static_cast<std::int64_t>(place.multiprocessors) * kBlocksPerMultiprocessor;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(blocks, 1, std::max<std::int64_t>(1, most)));
}

template <class Element>
struct Vector {
  Element of[kPerVector<Element>];
};

template <class Element>
__device__ __forceinline__ Vector<Element> load(const Element* from, std::int64_t vector) {
  const uint4 raw = reinterpret_cast<const uint4*>(from)[vector];
  return bits_as<Vector<Element>>(raw);
}

template <class Element>
__device__ __forceinline__ void store(Element* to, std::int64_t vector,
                                      const Vector<Element>& value) {
  reinterpret_cast<uint4*>(to)[vector] = bits_as<uint4>(value);
}

__device__ __forceinline__ std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t grid_width() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// Calls `on_vector(i)` for each vector of 16 bytes that this thread has to process, and
/// `on_single(e)` for each of its single elements. The index i counts vectors after the head.
template <class Element, class OnVector, class OnSingle>
__device__ __forceinline__ void each(const Split& split, OnVector on_vector, OnSingle on_single) {
  for (std::int64_t i = first_index(); i < split.vectors; i += grid_width()) on_vector(i);
  const std::int64_t in_vectors = split.vectors * kPerVector<Element>;
  for (std::int64_t i = first_index(); i < split.count - in_vectors; i += grid_width())
    on_single(i < split.head ? i : i + in_vectors);
}

template <Op op, class Element>
__global__ void __launch_bounds__(kThreads)
    combine_kernel(Element* target, const Element* a, const Element* b, Split split) {
  each<Element>(
      split,
      [&](std::int64_t i) {
        const Vector<Element> x = load(a + split.head, i);
        const Vector<Element> y = load(b + split.head, i);
        Vector<Element> sum;
#pragma unroll
        for (int k = 0; k < kPerVector<Element>; ++k)
          sum.of[k] = combined_element<op>(x.of[k], y.of[k]);
        store(target + split.head, i, sum);
      },
      [&](std::int64_t e) { target[e] = combined_element<op>(a[e], b[e]); });
}

/// Combines the inputs into `target`. Rounds after every input, as the host does, so that device
/// and host compute the same result.
template <Op op, class Element>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(Element* target, const Element* a, std::int64_t stride, std::int64_t inputs,
                  bool accumulate, Split split) {
  const auto input = [&](std::int64_t n) {
    return reinterpret_cast<const Element*>(reinterpret_cast<const char*>(a) + n * stride);
  };
  each<Element>(
      split,
      [&](std::int64_t i) {
        Vector<Element> sum = accumulate ? load<Element>(target + split.head, i)
                                         : load<Element>(input(0) + split.head, i);
        for (std::int64_t n = accumulate ? 0 : 1; n < inputs; ++n) {
          const Vector<Element> x = load<Element>(input(n) + split.head, i);
#pragma unroll
          for (int k = 0; k < kPerVector<Element>; ++k)
            sum.of[k] = combined_element<op>(sum.of[k], x.of[k]);
        }
        store(target + split.head, i, sum);
      },
      [&](std::int64_t e) {
        Element sum = accumulate ? target[e] : input(0)[e];
        for (std::int64_t n = accumulate ? 0 : 1; n < inputs; ++n)
          sum = combined_element<op>(sum, input(n)[e]);
        target[e] = sum;
      });
}

template <class Element>
__global__ void __launch_bounds__(kThreads)
    scale_kernel(Element* target, double factor, Split split) {
  each<Element>(
      split,
      [&](std::int64_t i) {
        Vector<Element> value = load<Element>(target + split.head, i);
#pragma unroll
        for (int k = 0; k < kPerVector<Element>; ++k) value.of[k] = scaled(value.of[k], factor);
        store(target + split.head, i, value);
      },
      [&](std::int64_t e) { target[e] = scaled(target[e], factor); });
}

__device__ __forceinline__ std::uint64_t global_timer() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void read_clock_kernel(volatile std::uint64_t* stamp) {
  *stamp = global_timer();
  __threadfence_system();
}

__global__ void busy_kernel(std::uint64_t until, std::uint64_t most,
                            volatile std::uint64_t* stamps) {
  const std::uint64_t begin = global_timer();
  std::uint64_t now = begin;
  while (now < until && now - begin < most) now = global_timer();
  stamps[0] = begin;
  stamps[1] = now;
  __threadfence_system();
}

/// Calls `with` as a template, instantiated for the element type whose core::DataType has the value
/// `type`.
template <class With>
cudaError_t by_type(int type, With with) {
  switch (type) {
    case 1: return with.template operator()<float>();
    case 2: return with.template operator()<double>();
    case 3: return with.template operator()<Half>();
    case 4: return with.template operator()<Bfloat>();
    case 5: return with.template operator()<std::int32_t>();
    case 6: return with.template operator()<std::int64_t>();
    default: return cudaErrorInvalidValue;
  }
}

/// Calls `with` like by_type(), but instantiated for both the operation and the element type that
/// these numbers denote.
template <class With>
cudaError_t by_operation_and_type(int operation, int type, With with) {
  return by_type(type, [&]<class Element>() {
    switch (operation) {
      case 0: return with.template operator()<Op::kSum, Element>();
      case 1: return with.template operator()<Op::kMin, Element>();
      case 2: return with.template operator()<Op::kMax, Element>();
      case 3: return with.template operator()<Op::kProduct, Element>();
      default: return cudaErrorInvalidValue;
    }
  });
}

}  // namespace

cudaError_t launch_combine(const Place& place, int operation, int type, void* target, const void* a,
                           const void* b, std::int64_t count) {
  if (count <= 0) return count == 0 ? cudaSuccess : cudaErrorInvalidValue;
  return by_operation_and_type(operation, type, [&]<Op op, class Element>() {
    const Split split = split_of<Element>(count, target, a, b, 0);
    combine_kernel<op, Element>
        <<<blocks_for(place, split, kPerVector<Element>), kThreads, 0, place.stream>>>(
            static_cast<Element*>(target), static_cast<const Element*>(a),
            static_cast<const Element*>(b), split);
    return cudaGetLastError();
  });
}

cudaError_t launch_reduce(const Place& place, int operation, int type, void* target, const void* a,
                          std::int64_t stride, std::int64_t inputs, bool accumulate,
                          std::int64_t count) {
  if (count < 0 || inputs < (accumulate ? 0 : 1)) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  return by_operation_and_type(operation, type, [&]<Op op, class Element>() {
    const Split split = split_of<Element>(count, target, a, a, stride);
    reduce_kernel<op, Element>
        <<<blocks_for(place, split, kPerVector<Element>), kThreads, 0, place.stream>>>(
            static_cast<Element*>(target), static_cast<const Element*>(a), stride, inputs,
            accumulate, split);
    return cudaGetLastError();
  });
}

cudaError_t launch_scale(const Place& place, int type, void* target, std::int64_t count,
                         double factor) {
  if (count <= 0) return count == 0 ? cudaSuccess : cudaErrorInvalidValue;
  return by_type(type, [&]<class Element>() {
    const Split split = split_of<Element>(count, target, target, target, 0);
    scale_kernel<Element>
        <<<blocks_for(place, split, kPerVector<Element>), kThreads, 0, place.stream>>>(
            static_cast<Element*>(target), factor, split);
    return cudaGetLastError();
  });
}

cudaError_t launch_read_clock(const Place& place, std::uint64_t* stamp) {
  read_clock_kernel<<<1, 1, 0, place.stream>>>(stamp);
  return cudaGetLastError();
}

cudaError_t launch_busy(const Place& place, std::uint64_t until_ns, std::uint64_t max_ns,
                        std::uint64_t* stamps) {
  busy_kernel<<<1, 1, 0, place.stream>>>(until_ns, max_ns, stamps);
  return cudaGetLastError();
}

}  // namespace tutti::real::cuda
