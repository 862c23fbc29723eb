#pragma once

#include <cstddef>
#include <cstdint>

// The part of NCCL's profiler interface, version 4, that Tutti uses. It is in no header that NCCL
// installs; every plugin brings its own. Names are Tutti's, layout and numbers NCCL's.
// SOURCE: NVIDIA/nccl, src/include/plugin/profiler/profiler_v4.h and
// src/include/plugin/nccl_profiler.h. NCCL has it since 2.27, and later versions still take it.

extern "C" {

/// Kinds of events: bits of the mask that a plugin requests, and the type of one event.
inline constexpr int kNcclEventCollective = 1 << 1;
/// Type of event: a channel of an operation, on the device.
inline constexpr int kNcclEventChannel = 1 << 6;

/// A state change of an event between its start and its stop.
inline constexpr int kNcclStateChannelStop = 22;

struct TuttiNcclEvent {
  std::uint8_t type;
  void* parent;  ///< for a channel: the event of its collective, as returned by begin()
  int rank;
  union {
    struct {
      std::uint64_t number;
      const char* function;
      const void* from;
      void* to;
      std::size_t count;
      int root;
      const char* type;
      std::uint8_t channels;
      std::uint8_t warps;
      const char* algorithm;
      const char* protocol;
    } collective;
    struct {
      std::uint8_t channel;
      std::uint64_t device_ns;  ///< time by the device's global timer, in ns
    } channel;
  };
};

union TuttiNcclStateArguments {
  struct {
    std::uint64_t device_ns;
  } channel;
  void* others;
};

struct TuttiNcclProfiler {
  const char* name;
  int (*open)(void** context, int* mask, const char* communicator, std::uint64_t id, int nodes,
              int ranks, int rank,
              void (*log)(int level, unsigned long flags, const char* file, int line,
                          const char* format, ...));
  int (*begin)(void* context, void** event, TuttiNcclEvent* description);
  int (*end)(void* event);
  int (*state)(void* event, int state, TuttiNcclStateArguments* arguments);
  int (*close)(void* context);
};

}  // extern "C"
