// libtutti_cuda.so: the table of real/cuda/api.h on the CUDA runtime.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <new>

#include "real/cuda/api.h"
#include "real/cuda/module/kernels.h"

struct TuttiCudaStream {
  int device = 0;
  int multiprocessors = 1;
  cudaStream_t stream = nullptr;
};

struct TuttiCudaEvent {
  int device = 0;
  cudaEvent_t event = nullptr;
};

namespace {

using tutti::real::cuda::Place;

static_assert(kTuttiCudaNotReady == cudaErrorNotReady &&
              kTuttiCudaOutOfMemory == cudaErrorMemoryAllocation &&
              kTuttiCudaNoDriver == cudaErrorInsufficientDriver &&
              kTuttiCudaNoDevice == cudaErrorNoDevice);

/// Converts an error to a result, and clears it in the runtime, so that a later call does not
/// report it.
int answer(cudaError_t error) {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return static_cast<int>(error);
}

/// Calls `call` while `device` is the current device.
template <class Call>
int on(int device, Call call) {
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) return answer(error);
  return answer(call());
}

/// Calls `call` while the stream's device is the current device.
template <class Call>
int on(const TuttiCudaStream* stream, Call call) {
  return on(stream->device, [&] { return call(Place{stream->stream, stream->multiprocessors}); });
}

const char* error_name(int error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); }
const char* error_text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

int device_count(int* count) {
  *count = 0;
  return answer(cudaGetDeviceCount(count));
}

int device_info(int device, TuttiCudaDeviceInfo* info) {
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess)
    return answer(error);
  *info = {};
  std::snprintf(info->name, sizeof info->name, "%s", properties.name);
  info->memory_bytes = properties.totalGlobalMem;
  info->major = properties.major;
  info->minor = properties.minor;
  return answer(cudaDeviceGetPCIBusId(info->bus_id, static_cast<int>(sizeof info->bus_id), device));
}

int memory_left(int device, std::uint64_t* free_bytes) {
  return on(device, [&] {
    std::size_t free = 0, total = 0;
    const cudaError_t error = cudaMemGetInfo(&free, &total);
    *free_bytes = free;
    return error;
  });
}

int enable_peer(int device, int peer, int* enabled) {
  *enabled = 0;
  return on(device, [&] {
    int can = 0;
    if (const cudaError_t error = cudaDeviceCanAccessPeer(&can, device, peer);
        error != cudaSuccess || !can)
      return error;
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    *enabled = error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
    if (error != cudaErrorPeerAccessAlreadyEnabled) return error;
    static_cast<void>(cudaGetLastError());
    return cudaSuccess;
  });
}

int allocate(int device, std::uint64_t bytes, void** memory) {
  return on(device, [&] { return cudaMalloc(memory, bytes); });
}

int release(int device, void* memory) {
  return on(device, [&] { return cudaFree(memory); });
}

int allocate_host(int device, std::uint64_t bytes, void** memory) {
  return on(device, [&] {
    return cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  });
}

int release_host(void* memory) { return answer(cudaFreeHost(memory)); }

int make_stream(int device, int urgent, TuttiCudaStream** stream) {
  *stream = nullptr;
  return on(device, [&] {
    int multiprocessors = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    int least = 0, greatest = 0;
    error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error != cudaSuccess) return error;
    cudaStream_t made = nullptr;
    error = cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, urgent ? greatest : least);
    if (error != cudaSuccess) return error;
    *stream = new (std::nothrow) TuttiCudaStream{device, multiprocessors, made};
    if (*stream) return cudaSuccess;
    static_cast<void>(cudaStreamDestroy(made));
    return cudaErrorMemoryAllocation;
  });
}

int destroy_stream(TuttiCudaStream* stream) {
  const int error = on(stream->device, [&] { return cudaStreamDestroy(stream->stream); });
  delete stream;
  return error;
}

int synchronize(TuttiCudaStream* stream) {
  return on(stream->device, [&] { return cudaStreamSynchronize(stream->stream); });
}

void* native_stream(TuttiCudaStream* stream) { return stream->stream; }

int make_event(int device, TuttiCudaEvent** event) {
  *event = nullptr;
  return on(device, [&] {
    cudaEvent_t made = nullptr;
    if (const cudaError_t error = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
        error != cudaSuccess)
      return error;
    *event = new (std::nothrow) TuttiCudaEvent{device, made};
    if (*event) return cudaSuccess;
    static_cast<void>(cudaEventDestroy(made));
    return cudaErrorMemoryAllocation;
  });
}

int destroy_event(TuttiCudaEvent* event) {
  const int error = on(event->device, [&] { return cudaEventDestroy(event->event); });
  delete event;
  return error;
}

int record(TuttiCudaEvent* event, TuttiCudaStream* stream) {
  return on(stream,
            [&](const Place& place) { return cudaEventRecord(event->event, place.stream); });
}

int query(TuttiCudaEvent* event) {
  return on(event->device, [&] { return cudaEventQuery(event->event); });
}

int copy(TuttiCudaStream* stream, void* to, const void* from, std::uint64_t bytes) {
  return on(stream, [&](const Place& place) {
    return bytes == 0 ? cudaSuccess
                      : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, place.stream);
  });
}

int combine(TuttiCudaStream* stream, int operation, int type, void* target, const void* a,
            const void* b, std::int64_t count) {
  return on(stream, [&](const Place& place) {
    return tutti::real::cuda::launch_combine(place, operation, type, target, a, b, count);
  });
}

int reduce(TuttiCudaStream* stream, int operation, int type, void* target, const void* a,
           std::int64_t stride, std::int64_t inputs, int accumulate, std::int64_t count) {
  return on(stream, [&](const Place& place) {
    return tutti::real::cuda::launch_reduce(place, operation, type, target, a, stride, inputs,
                                            accumulate != 0, count);
  });
}

int scale(TuttiCudaStream* stream, int type, void* target, std::int64_t count, double factor) {
  return on(stream, [&](const Place& place) {
    return tutti::real::cuda::launch_scale(place, type, target, count, factor);
  });
}

int read_clock(TuttiCudaStream* stream, std::uint64_t* stamp) {
  return on(stream,
            [&](const Place& place) { return tutti::real::cuda::launch_read_clock(place, stamp); });
}

int busy(TuttiCudaStream* stream, std::uint64_t until_ns, std::uint64_t max_ns,
         std::uint64_t* stamps) {
  return on(stream, [&](const Place& place) {
    return tutti::real::cuda::launch_busy(place, until_ns, max_ns, stamps);
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const TuttiCudaApi* tutti_cuda_api() {
  static const TuttiCudaApi api{kTuttiCudaInterface,
                                sizeof(TuttiCudaApi),
                                "CUDA " TUTTI_CUDA_VERSION
                                ", compiled for " TUTTI_CUDA_ARCHITECTURES,
                                error_name,
                                error_text,
                                device_count,
                                device_info,
                                memory_left,
                                enable_peer,
                                allocate,
                                release,
                                allocate_host,
                                release_host,
                                make_stream,
                                destroy_stream,
                                synchronize,
                                native_stream,
                                make_event,
                                destroy_event,
                                record,
                                query,
                                copy,
                                combine,
                                reduce,
                                scale,
                                read_clock,
                                busy};
  return &api;
}
