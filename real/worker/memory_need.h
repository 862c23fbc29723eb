#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/worker/backend.h"

namespace tutti::real {

/// A lower bound of the memory of a machine that processes of a run need: with less, the run cannot
/// succeed. It excludes what depends on timing, such as messages that arrive before they are
/// expected, and what the kernel keeps for sockets (docs/running.md has measurements).
struct MemoryNeed {
  /// Gradients and variables of all concurrent steps, and partial results of schedules.
  core::Bytes buffers;
  core::Bytes copies;     ///< copies of GPU memory on the host, to fill and to compare it
  core::Bytes transport;  ///< buffers of connections, and rings in shared memory
  core::Bytes processes;  ///< the processes themselves

  [[nodiscard]] core::Bytes total() const { return buffers + copies + transport + processes; }
  MemoryNeed& operator+=(const MemoryNeed& other);
};

/// The options that the need depends on.
struct MemoryOptions {
  Backend backend = Backend::kTcp;
  bool shared_memory = false;  ///< true: workers use shared memory as their transport, not TCP
  int streams = 1;             ///< TCP connections between each pair of workers
  bool verify = true;
  bool loop = false;               ///< a benchmark of the first pack instead of training steps
  std::int32_t steps_at_once = 1;  ///< the result of steps_at_once()
};

/// Returns how many training steps have buffers at the same time: those that fit into 2 GiB on a
/// machine with that many workers, at least one and at most 16.
std::int32_t steps_at_once(const core::Scenario& scenario, std::int64_t workers_on_a_machine);

/// Returns the need of one worker's process. Cost: linear in the plan's packs (asynchronous
/// workers: packs times workers).
MemoryNeed memory_need(const core::Scenario& scenario, std::int32_t worker,
                       const MemoryOptions& options);

/// Returns the memory that the machine has left for a run, in bytes; nothing if it is unknown.
using FreeMemory = std::function<std::optional<std::uint64_t>()>;

/// ERRORS (kRequest): `workers` processes of this need, all on this machine, exceed the free
/// memory.
core::Expected<void> check_memory(const core::Scenario& scenario, const MemoryNeed& need,
                                  std::int64_t workers, const FreeMemory& free);

}  // namespace tutti::real
