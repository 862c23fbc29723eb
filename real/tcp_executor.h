#pragma once

#include <functional>
#include <string>

#include "core/executor.h"

namespace tutti::real {

struct TcpExecutorOptions {
  std::string program;  ///< the tutti program: workers are processes of it
  std::string library;  ///< folder of the shipped machines, models and profiles
  bool verify = true;
  double timeout_seconds = 60;
  /// Emulates the scenario's links and devices, this much slower than they are. Without: this machine as it is.
  std::function<double(const core::Scenario&)> time_scale;
};

/// Runs a scenario for real on this machine: one process per worker, messages over TCP on loopback, every element of
/// every result compared. Computation is replayed as time that passes. Steps begin together; what happens between them
/// (new inputs, comparing results) is left out of the timeline.
class TcpExecutor : public core::Executor {
 public:
  explicit TcpExecutor(TcpExecutorOptions options) : options_(std::move(options)) {}
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

 private:
  TcpExecutorOptions options_;
};

}  // namespace tutti::real
