#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::sim {

/// Of a schedule that is the same everywhere: what one worker does, who stands for all. Its ranks are worker 0's replicas
/// and then, if the schedule has hosts, its host. What it sends to another worker, that one's fellow in the same place sends
/// to it, so each such message leaves this worker and comes back to it. Peers say how far away they are (Peer::away): the
/// d that turns the sender's worker into the receiver's. Connections over different distances are different ones.
/// REQUIRES: schedule->same_everywhere(by, per_worker); more than one worker.
std::unique_ptr<core::Schedule> folded(std::shared_ptr<const core::Schedule> schedule, core::Renumbering by,
                                       std::int32_t workers, std::int32_t per_worker);

}  // namespace tutti::sim
