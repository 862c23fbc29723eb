#pragma once

#include <optional>

#include "core/scenario/executor.h"
#include "real/coordinator/tcp_executor.h"
#include "real/join/socket.h"

namespace tutti::real {

/// Runs a scenario on workers. The coordinator waits until all workers have joined, sends each
/// worker the scenario and its files, starts every batch of training steps on all workers together,
/// merges the workers' records into one timeline, and ends the workers. The listener is closed
/// after all workers have joined, unless another run follows (`options.gathering.come_again`). In
/// this case, workers that the coordinator did not start are asked to join again. Returns true if
/// these workers were asked to join again, and false if the run was cancelled or no other run
/// follows. The timeline is closed in all cases, and contains every training step that ended.
/// ERRORS: those of TcpExecutor::run().
core::Expected<bool> coordinate(const TcpExecutorOptions& options, const core::Scenario& scenario,
                                const core::RecordOptions& record, const core::RunControl& control,
                                core::TimelineSink& sink, std::optional<Listener>& listener);

}  // namespace tutti::real
