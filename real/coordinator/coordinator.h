#pragma once

#include "core/scenario/executor.h"
#include "real/coordinator/tcp_executor.h"
#include "real/join/socket.h"

namespace tutti::real {

/// Runs a scenario on workers: gathers them, gives each the whole plan, has them begin every step together, joins what
/// they tell into one timeline, and ends them.
/// Answers whether those who came from elsewhere were told to come again (Gathering::come_again): not if the run was cancelled.
/// ERRORS: as TcpExecutor::run(). Whatever happens, the timeline holds every step that ended, and ends.
core::Expected<bool> coordinate(const TcpExecutorOptions& options, const core::Scenario& scenario,
                                const core::RecordOptions& record, const core::RunControl& control,
                                core::TimelineSink& sink, const Listener& listener);

}  // namespace tutti::real
