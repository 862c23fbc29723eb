#pragma once

#include <cstddef>
#include <cstdint>

// The part of version 4 of NCCL's profiler interface that Tutti uses. NCCL installs no header for
// this interface, so every plugin has its own declarations. The layout of the structures and all
// numeric values are NCCL's; the names are Tutti's.
// SOURCE: NVIDIA/nccl, src/include/plugin/profiler/profiler_v4.h and
// src/include/plugin/nccl_profiler.h. NCCL 2.27 introduced version 4, and later releases still
// support it.

extern "C" {

/// The type of the event that describes a collective. Types of events are bits, and a plugin
/// requests events by a mask of these bits.
inline constexpr int kNcclEventCollective = 1 << 1;
/// The type of the event that describes one channel of an operation on the device.
inline constexpr int kNcclEventChannel = 1 << 6;

/// The state that NCCL reports for an event of type kNcclEventChannel when the channel has ended on
/// the device. NCCL reports this state after the event's start and before the event's stop.
inline constexpr int kNcclStateChannelStop = 22;

/// The data that NCCL passes to the profiler to describe a collective.
struct TuttiNcclCollectiveEvent {
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
};

/// The data that NCCL passes to the profiler to describe one channel of a collective.
struct TuttiNcclChannelEvent {
  std::uint8_t channel;
  std::uint64_t device_ns;  ///< start by the device's global timer, in ns
};

struct TuttiNcclEvent {
  std::uint8_t type;
  /// For a channel: the event of the channel's collective, as returned by begin().
  void* parent;
  int rank;
  union {
    TuttiNcclCollectiveEvent collective;
    TuttiNcclChannelEvent channel;
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
