#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/scenario/scenario.h"
#include "real/transport/transport.h"
#include "real/worker/backend.h"
#include "real/worker/coordinator_line.h"
#include "real/worker/memory_need.h"
#include "real/worker/worker_run.h"

namespace tutti::proto {
class Assignment;
class Go;
}  // namespace tutti::proto

namespace tutti::real {

// The functions that a worker calls between receiving its assignment and its first step.

/// Returns the timeout of the run. ERRORS: it is invalid.
core::Expected<std::chrono::duration<double>> timeout_of(const proto::Assignment& order);

/// ERRORS: the scenario is invalid, or leads to another plan than the coordinator's, which means
/// that the programs differ; unknown kind of file.
core::Expected<core::Scenario> read_plan(const proto::Assignment& order);

/// Checks that the assignment's numbers are possible for a run of the scenario, since they are used
/// as indexes and counts.
/// ERRORS: the first number that is not.
core::Expected<void> check_assignment(const proto::Assignment& order,
                                      const core::Scenario& scenario);

/// True if this starts the batch that begins with step `next`, at a time that a clock can show.
bool is_due(const proto::Go& go, std::int32_t next);

/// Returns connections to the other workers, as meet_peers().
/// ERRORS: as meet_peers(); the coordinator's.
core::Expected<std::vector<int>> meet_others(const proto::Assignment& order,
                                             const CoordinatorFound& found,
                                             const Listener& listener, CoordinatorLine& line);

/// REQUIRES: `sockets` are of meet_others() with the same assignment.
core::Expected<std::unique_ptr<Transport>> open_transport(const proto::Assignment& order,
                                                          const core::Scenario& scenario,
                                                          std::vector<int> sockets,
                                                          CoordinatorLine& line);

/// Returns the memory need of all workers on this one's machine, assuming that they are like this
/// one.
[[nodiscard]] MemoryNeed need_of(const proto::Assignment& order, const core::Scenario& scenario);

[[nodiscard]] WorkerOptions options_of(const proto::Assignment& order);
/// ERRORS: this program has no such backend.
[[nodiscard]] core::Expected<BackendOptions> backend_of(const proto::Assignment& order);

/// Like make_collectives(), with the communicator's identifier exchanged through the coordinator.
core::Expected<CollectivesMaker> collectives_for(const BackendOptions& backend,
                                                 const core::Scenario& scenario,
                                                 Transport& transport, Devices& devices,
                                                 CoordinatorLine& line);

}  // namespace tutti::real
