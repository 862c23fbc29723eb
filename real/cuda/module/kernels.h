#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

// Launches Tutti's own kernels, for module.cpp. All functions return the result of the launch.
// Operations and types are passed as in real/cuda/api.h. The result is cudaErrorInvalidValue if the
// number of an operation or a type is unknown.

namespace tutti::real::cuda {

/// The CUDA stream on which a kernel runs.
struct Place {
  cudaStream_t stream = nullptr;
  /// The number of multiprocessors of the stream's device, which must be the current device.
  int multiprocessors = 1;
};

cudaError_t launch_combine(const Place& place, int operation, int type, void* target, const void* a,
                           const void* b, std::int64_t count);
cudaError_t launch_reduce(const Place& place, int operation, int type, void* target, const void* a,
                          std::int64_t stride, std::int64_t inputs, bool accumulate,
                          std::int64_t count);
cudaError_t launch_scale(const Place& place, int type, void* target, std::int64_t count,
                         double factor);
cudaError_t launch_read_clock(const Place& place, std::uint64_t* stamp);
cudaError_t launch_busy(const Place& place, std::uint64_t until_ns, std::uint64_t max_ns,
                        std::uint64_t* stamps);

}  // namespace tutti::real::cuda
