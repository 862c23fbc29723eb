#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/worker/backend.h"

namespace tutti::real {

/// Memory of a machine that processes of a run take for certain: a run for which there is less cannot succeed. Left out
/// is what depends on timing, such as messages that come before they are expected, and what the kernel keeps for
/// sockets (docs/running.md has measurements).
struct MemoryNeed {
  core::Bytes buffers;    ///< gradients and variables, of all steps that run together, and partial results of schedules
  core::Bytes copies;     ///< on the host of what lies on GPUs, to fill and to compare it
  core::Bytes transport;  ///< buffers of connections, rings in shared memory
  core::Bytes processes;  ///< the program itself

  [[nodiscard]] core::Bytes total() const { return buffers + copies + transport + processes; }
  MemoryNeed& operator+=(const MemoryNeed& other);
};

/// What the need depends on besides the scenario.
struct MemoryOptions {
  Backend backend = Backend::kTcp;
  bool shared_memory = false;  ///< the workers' transport, in place of TCP
  int streams = 1;             ///< TCP connections between each two workers
  bool verify = true;
  bool loop = false;               ///< a benchmark of the first pack, in place of training steps
  std::int32_t steps_at_once = 1;  ///< as steps_at_once() says
};

/// How many training steps have buffers at the same time: those that fit into 2 GiB on a machine with so many workers,
/// at least one and at most 16.
std::int32_t steps_at_once(const core::Scenario& scenario, std::int64_t workers_on_a_machine);

/// The need of one worker's process. Cost: that of the plan's packs (of workers that do not wait for each other: times
/// the workers).
MemoryNeed memory_need(const core::Scenario& scenario, std::int32_t worker, const MemoryOptions& options);

/// What the machine has left for a run, in bytes; nothing where that is not known.
using FreeMemory = std::function<std::optional<std::uint64_t>()>;

/// ERRORS (kRequest): `workers` processes of this need, all on this machine, do not fit into what is free.
core::Expected<void> check_memory(const core::Scenario& scenario, const MemoryNeed& need, std::int64_t workers,
                                  const FreeMemory& free);

}  // namespace tutti::real
