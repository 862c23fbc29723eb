#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::sim {

/// Returns the part of a symmetric schedule that worker 0 executes on behalf of all workers. The
/// ranks of the result are the replicas of worker 0, followed by the host of worker 0 if the
/// schedule has hosts. By symmetry, if worker 0 sends a message to the worker at distance d, worker
/// 0 receives the same message from the worker at distance -d. In the resulting schedule, worker 0
/// therefore sends each such message to itself. Peer::away is the distance d from the sender's
/// worker to the receiver's worker. Messages with different distances use different connections.
/// REQUIRES: schedule->same_everywhere(by, per_worker); more than one worker.
std::unique_ptr<core::Schedule> folded(std::shared_ptr<const core::Schedule> schedule,
                                       core::Renumbering by, std::int32_t workers,
                                       std::int32_t per_worker);

}  // namespace tutti::sim
