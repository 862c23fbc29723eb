#pragma once

#include <chrono>
#include <memory>
#include <string_view>
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

// Functions that a worker calls between receiving its assignment and its first step.

/// Returns the timeout of the run. ERRORS: the timeout is invalid.
core::Expected<std::chrono::duration<double>> timeout_of(const proto::Assignment& order);

/// Reads the scenario of an assignment. `coordinator`: the coordinator's protocol(). ERRORS: the
/// scenario is invalid; its plan differs from the coordinator's plan, which means that the programs
/// differ; a file has an unknown kind.
core::Expected<core::Scenario> read_plan(const proto::Assignment& order,
                                         std::string_view coordinator);

/// Checks that the numbers of an assignment, which are used as indices and counts, are in range for
/// the scenario. ERRORS: a number is out of range. The error names the first number that is out of
/// range.
core::Expected<void> check_assignment(const proto::Assignment& order,
                                      const core::Scenario& scenario);

/// Returns true if the message `go` starts the batch that begins with step `next`, and its start
/// time is valid.
bool is_due(const proto::Go& go, std::int32_t next);

/// Connects to the other workers. Returns the connections in the same order as connect_peers().
/// ERRORS: an error of connect_peers() or CoordinatorLine::look().
core::Expected<std::vector<Connection>> connect_workers(const proto::Assignment& order,
                                                        const CoordinatorFound& found,
                                                        const Listener& listener,
                                                        std::shared_ptr<const TlsContext> tls,
                                                        CoordinatorLine& line);

/// Creates the transport. REQUIRES: `connections` are from connect_workers() with the same
/// assignment. ERRORS: the transport cannot be created; the transport is shared memory, but the run
/// uses TLS.
core::Expected<std::unique_ptr<Transport>> open_transport(const proto::Assignment& order,
                                                          const core::Scenario& scenario,
                                                          std::vector<Connection> connections,
                                                          CoordinatorLine& line);

/// Returns the memory that all workers on this worker's machine need together, under the assumption
/// that every worker needs as much as this worker.
[[nodiscard]] MemoryNeed need_of(const proto::Assignment& order, const core::Scenario& scenario);

[[nodiscard]] WorkerOptions options_of(const proto::Assignment& order);
/// Returns the backend options of an assignment. ERRORS: this program has no such backend.
[[nodiscard]] core::Expected<BackendOptions> backend_of(const proto::Assignment& order);

/// Exchanges the communicator's identifier through the coordinator, then calls make_collectives().
core::Expected<CollectivesMaker> collectives_for(const BackendOptions& backend,
                                                 const core::Scenario& scenario,
                                                 Transport& transport, Devices& devices,
                                                 CoordinatorLine& line);

}  // namespace tutti::real
