#pragma once

#include <cstdint>

// What the CUDA module (libtutti_cuda.so) does for the program, in plain C: the calls of CUDA that real/cuda/ needs, and
// our own kernels. The program loads the module when a run asks for it, so it also starts where there is no CUDA; and
// tests put a module of their own in its place. Who owns what, in which order things happen and what an error means is
// decided on the program's side.

extern "C" {

/// Changes with every change of the table below: a module of another number is not used.
inline constexpr std::uint32_t kTuttiCudaInterface = 1;

/// Not done yet: an answer of `query` that is no error. (cudaErrorNotReady)
inline constexpr int kTuttiCudaNotReady = 600;
inline constexpr int kTuttiCudaOutOfMemory = 2;
inline constexpr int kTuttiCudaNoDriver = 35;
inline constexpr int kTuttiCudaNoDevice = 100;

/// A stream of a device, an event of a device: the module's own.
struct TuttiCudaStream;
struct TuttiCudaEvent;

struct TuttiCudaDeviceInfo {
  char name[256];
  char bus_id[32];  ///< "0000:17:00.0"
  std::uint64_t memory_bytes;
  std::int32_t major, minor;  ///< compute capability
};

/// Every call answers 0 or an error number of CUDA. Operations and types are numbered as real::Operation and
/// core::DataType are. Nothing is done on a default stream. One thread calls.
struct TuttiCudaApi {
  std::uint32_t interface_number;  ///< kTuttiCudaInterface
  std::uint32_t size;              ///< of this struct
  const char* description;         ///< "CUDA 13.0, for compute capabilities 8.0 and 9.0"

  const char* (*error_name)(int error);  ///< "cudaErrorNoDevice"
  const char* (*error_text)(int error);  ///< "no CUDA-capable device is detected"

  int (*device_count)(int* count);
  int (*device_info)(int device, TuttiCudaDeviceInfo* info);
  int (*memory_left)(int device, std::uint64_t* free_bytes);
  /// Kernels and copies of `device` reach the memory of `peer` directly, if they can.
  int (*enable_peer)(int device, int peer, int* enabled);

  int (*allocate)(int device, std::uint64_t bytes, void** memory);
  int (*release)(int device, void* memory);
  /// Pages of the host that stay where they are, and that every device reaches.
  int (*allocate_host)(int device, std::uint64_t bytes, void** memory);
  int (*release_host)(void* memory);

  /// `urgent`: its kernels go before those of other streams.
  int (*make_stream)(int device, int urgent, TuttiCudaStream** stream);
  int (*destroy_stream)(TuttiCudaStream* stream);
  /// Waits for all that the stream was asked for.
  int (*synchronize)(TuttiCudaStream* stream);
  /// The cudaStream_t, for other libraries.
  void* (*native_stream)(TuttiCudaStream* stream);
  int (*make_event)(int device, TuttiCudaEvent** event);
  int (*destroy_event)(TuttiCudaEvent* event);
  int (*record)(TuttiCudaEvent* event, TuttiCudaStream* stream);
  /// 0: all that the stream was asked for before record() is done. kTuttiCudaNotReady: not yet.
  int (*query)(TuttiCudaEvent* event);

  /// Between any two of devices' and the host's memory.
  int (*copy)(TuttiCudaStream* stream, void* to, const void* from, std::uint64_t bytes);
  /// target[i] = a[i] ⊕ b[i]; the ranges are the same or do not overlap.
  int (*combine)(TuttiCudaStream* stream, int operation, int type, void* target, const void* a, const void* b,
                 std::int64_t count);
  /// target = a ⊕ (a + stride bytes) ⊕ … over `inputs` ranges; with `accumulate` what target held comes first.
  int (*reduce)(TuttiCudaStream* stream, int operation, int type, void* target, const void* a, std::int64_t stride,
                std::int64_t inputs, int accumulate, std::int64_t count);
  /// target[i] = target[i] · factor
  int (*scale)(TuttiCudaStream* stream, int type, void* target, std::int64_t count, double factor);

  /// Writes the device's clock (nanoseconds) to `stamp`, which the host reaches.
  int (*read_clock)(TuttiCudaStream* stream, std::uint64_t* stamp);
  /// Keeps a multiprocessor busy until the device's clock is at `until_ns`, but not longer than `most_ns`; writes when it
  /// began and ended to `stamps[0]` and `stamps[1]`, which the host reaches.
  int (*busy)(TuttiCudaStream* stream, std::uint64_t until_ns, std::uint64_t most_ns, std::uint64_t* stamps);
};

/// What the module exports, under this name.
using TuttiCudaEntry = const TuttiCudaApi* (*)();
inline constexpr char kTuttiCudaEntry[] = "tutti_cuda_api";

}  // extern "C"
