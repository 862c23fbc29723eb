#pragma once

#include <cstdint>

// The interface of the CUDA module (libtutti_cuda.so) in plain C: the CUDA calls that real/cuda/
// needs, and Tutti's own kernels. The program loads the module only if a run needs it. The program
// therefore also starts on machines without CUDA, and tests can replace the module. Ownership,
// ordering and error handling are the program's responsibility.

extern "C" {

/// The version of the function table below. The program rejects a module with another version.
inline constexpr std::uint32_t kTuttiCudaInterface = 1;

/// The result of `query` if the work is not complete (cudaErrorNotReady). Not an error.
inline constexpr int kTuttiCudaNotReady = 600;
inline constexpr int kTuttiCudaOutOfMemory = 2;
inline constexpr int kTuttiCudaNoDriver = 35;
inline constexpr int kTuttiCudaNoDevice = 100;

/// Opaque handles of a stream and of an event on one device. Defined by the module.
struct TuttiCudaStream;
struct TuttiCudaEvent;

struct TuttiCudaDeviceInfo {
  char name[256];
  char bus_id[32];  ///< PCI bus identifier, such as "0000:17:00.0"
  std::uint64_t memory_bytes;
  std::int32_t major, minor;  ///< compute capability
};

/// The module's functions. Functions with result int return 0 or a CUDA error number. Operations
/// and types are passed as the integer values of real::Operation and core::DataType. The default
/// stream of CUDA is never used. All calls come from one thread.
struct TuttiCudaApi {
  std::uint32_t interface_number;  ///< equals kTuttiCudaInterface
  std::uint32_t size;              ///< size of this struct in bytes
  const char* description;         ///< description of the module, such as "CUDA 13.0, for compute
                                   ///< capabilities 8.0 and 9.0"

  const char* (*error_name)(int error);  ///< returns, for example, "cudaErrorNoDevice"
  /// Returns CUDA's description of an error number, such as "no CUDA-capable device is detected".
  const char* (*error_text)(int error);

  int (*device_count)(int* count);
  int (*device_info)(int device, TuttiCudaDeviceInfo* info);
  int (*memory_left)(int device, std::uint64_t* free_bytes);
  /// Lets kernels and copies of `device` access the memory of `peer` directly, if the hardware
  /// supports such access. Sets `enabled` to 1 if the hardware supports it, and otherwise to 0.
  int (*enable_peer)(int device, int peer, int* enabled);

  int (*allocate)(int device, std::uint64_t bytes, void** memory);
  int (*release)(int device, void* memory);
  /// Allocates pinned host memory, which every device can access.
  int (*allocate_host)(int device, std::uint64_t bytes, void** memory);
  int (*release_host)(void* memory);

  /// Creates a stream. `urgent`: kernels of this stream have priority over kernels of other
  /// streams.
  int (*make_stream)(int device, int urgent, TuttiCudaStream** stream);
  int (*destroy_stream)(TuttiCudaStream* stream);
  /// Waits until all work on the stream is complete.
  int (*synchronize)(TuttiCudaStream* stream);
  /// Returns the stream as a cudaStream_t, for other libraries.
  void* (*native_stream)(TuttiCudaStream* stream);
  int (*make_event)(int device, TuttiCudaEvent** event);
  int (*destroy_event)(TuttiCudaEvent* event);
  int (*record)(TuttiCudaEvent* event, TuttiCudaStream* stream);
  /// Returns 0 if the stream has completed all work that preceded record(), else
  /// kTuttiCudaNotReady.
  int (*query)(TuttiCudaEvent* event);

  /// Copies between any two locations in the memory of devices or of the host.
  int (*copy)(TuttiCudaStream* stream, void* to, const void* from, std::uint64_t bytes);
  /// Computes target[i] = a[i] ⊕ b[i]. The source and target ranges must be identical or must not
  /// overlap.
  int (*combine)(TuttiCudaStream* stream, int operation, int type, void* target, const void* a,
                 const void* b, std::int64_t count);
  /// Computes target = a ⊕ (a + stride bytes) ⊕ … over `inputs` ranges. With `accumulate`, computes
  /// target = target ⊕ a ⊕ ….
  int (*reduce)(TuttiCudaStream* stream, int operation, int type, void* target, const void* a,
                std::int64_t stride, std::int64_t inputs, int accumulate, std::int64_t count);
  /// Computes target[i] = target[i] · factor.
  int (*scale)(TuttiCudaStream* stream, int type, void* target, std::int64_t count, double factor);

  /// Writes the device's clock in nanoseconds to `stamp`, which is memory that the host can access.
  int (*read_clock)(TuttiCudaStream* stream, std::uint64_t* stamp);
  /// Keeps a multiprocessor busy until the device's clock shows `until_ns`, but for at most
  /// `max_ns`. Writes the kernel's start and end to `stamps[0]` and `stamps[1]`, which are memory
  /// that the host can access.
  int (*busy)(TuttiCudaStream* stream, std::uint64_t until_ns, std::uint64_t max_ns,
              std::uint64_t* stamps);
};

/// The type and the name of the only function that the module exports. The function returns the
/// function table.
using TuttiCudaEntry = const TuttiCudaApi* (*)();
inline constexpr char kTuttiCudaEntry[] = "tutti_cuda_api";

}  // extern "C"
