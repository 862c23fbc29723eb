#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/worker/backend.h"

namespace tutti::real {

/// A lower bound of the memory that processes of a run need. A run with less memory cannot succeed.
/// The bound excludes memory that depends on timing, such as the memory for messages that arrive
/// early, and the kernel's memory for sockets (docs/running.md has measurements).
struct MemoryNeed {
  /// The size of the gradients and variables of all steps that have buffers, plus the size of the
  /// partial results of schedules.
  core::Bytes buffers;
  core::Bytes copies;     ///< host copies of GPU memory, to fill and to compare buffers
  core::Bytes transport;  ///< buffers of connections, and rings in shared memory
  core::Bytes processes;  ///< memory of the processes themselves, without buffers

  [[nodiscard]] core::Bytes total() const { return buffers + copies + transport + processes; }
  MemoryNeed& operator+=(const MemoryNeed& other);
};

/// The options on which the memory need depends.
struct MemoryOptions {
  Backend backend = Backend::kTcp;
  bool shared_memory = false;  ///< true: the transport is shared memory, not TCP
  int streams = 1;             ///< TCP connections between each pair of workers
  bool verify = true;
  bool loop = false;  ///< true: a benchmark of the first pack instead of training steps
  std::int32_t steps_at_once = 1;  ///< number of steps with buffers, from steps_at_once()
};

/// Returns the number of training steps that have buffers at the same time. It is the largest
/// number up to 16 for which the buffers of all `workers_on_a_machine` workers on a machine take at
/// most 2 GiB. If the buffers of a single step take more, the result is 1.
std::int32_t steps_at_once(const core::Scenario& scenario, std::int64_t workers_on_a_machine);

/// Returns the memory that the process of one worker needs. Cost: linear in the number of packs;
/// for asynchronous workers, linear in packs times workers.
MemoryNeed memory_need(const core::Scenario& scenario, std::int32_t worker,
                       const MemoryOptions& options);

/// A function that returns the free memory of this machine in bytes; nullopt if the free memory is
/// unknown.
using FreeMemory = std::function<std::optional<std::uint64_t>()>;

/// Checks that this machine has enough free memory for `workers` processes, which together need
/// `need`. If the free memory is unknown, the check succeeds. ERRORS (kRequest): there is not
/// enough free memory.
core::Expected<void> check_memory(const core::Scenario& scenario, const MemoryNeed& need,
                                  std::int64_t workers, const FreeMemory& free);
/// Returns a warning if the free memory is at least `need`, which is only a lower bound, but may be
/// less than the peak of the memory use. (In measurements, the peak was up to 1.27 times the lower
/// bound.) Returns an empty text otherwise, or if the free memory is unknown.
std::string memory_warning(const MemoryNeed& need, const FreeMemory& free);

}  // namespace tutti::real
