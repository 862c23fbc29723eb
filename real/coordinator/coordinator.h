#pragma once

#include <optional>

#include "core/scenario/executor.h"
#include "real/coordinator/tcp_executor.h"
#include "real/join/socket.h"

namespace tutti::real {

/// Runs a scenario on workers: gathers the workers, sends each the whole plan, starts every step on
/// all workers together, merges their records into one timeline, and dismisses them. Once all
/// workers have joined, the listener is closed, unless they are to join again.
/// Returns true if workers that the coordinator did not start were asked to join again
/// (Gathering::come_again); a cancelled run returns false. In all cases, the timeline contains
/// every step that ended, and is closed. ERRORS: as TcpExecutor::run().
core::Expected<bool> coordinate(const TcpExecutorOptions& options, const core::Scenario& scenario,
                                const core::RecordOptions& record, const core::RunControl& control,
                                core::TimelineSink& sink, std::optional<Listener>& listener);

}  // namespace tutti::real
