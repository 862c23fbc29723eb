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
}

namespace tutti::real {

// What a worker makes of its assignment before the first step.

/// ERRORS: it is no time that a run can have.
core::Expected<std::chrono::duration<double>> timeout_of(const proto::Assignment& order);

/// ERRORS: the scenario is wrong, or another plan than the coordinator's comes of it: that is another program; there is no such kind
/// of file.
core::Expected<core::Scenario> read_plan(const proto::Assignment& order);

/// Whether the assignment's numbers are those that a run of the scenario can have: nothing that indexes or counts is taken on trust.
/// ERRORS: the first that is not.
core::Expected<void> check_assignment(const proto::Assignment& order, const core::Scenario& scenario);

/// Connections to the other workers, as meet_peers() gives them.
/// ERRORS: as there; the coordinator's.
core::Expected<std::vector<int>> meet_others(const proto::Assignment& order, const CoordinatorFound& found,
                                             const Listener& listener, CoordinatorLine& line);

/// REQUIRES: `sockets` are of meet_others() with the same assignment.
core::Expected<std::unique_ptr<Transport>> open_transport(const proto::Assignment& order,
                                                          const core::Scenario& scenario, std::vector<int> sockets,
                                                          CoordinatorLine& line);

/// Of all workers on this one's machine, as if they were like this one.
[[nodiscard]] MemoryNeed need_of(const proto::Assignment& order, const core::Scenario& scenario);

[[nodiscard]] WorkerOptions options_of(const proto::Assignment& order);
/// ERRORS: this program has no such backend.
[[nodiscard]] core::Expected<BackendOptions> backend_of(const proto::Assignment& order);

/// As make_collectives(), with NCCL's name for the run by way of the coordinator.
core::Expected<CollectivesMaker> collectives_for(const BackendOptions& backend, const core::Scenario& scenario,
                                                 Transport& transport, Devices& devices, CoordinatorLine& line);

}  // namespace tutti::real
