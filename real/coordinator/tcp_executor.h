#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/scenario/executor.h"
#include "real/coordinator/gather.h"
#include "real/worker/backend.h"
#include "real/worker/loop_options.h"
#include "real/worker/memory_need.h"

namespace tutti::real {

struct TcpExecutorOptions {
  std::string program;  ///< the tutti program: workers are processes of it
  bool verify = true;
  /// How long nothing may move, or be heard of a worker, before the run has failed.
  double timeout_seconds = 60;
  /// Emulates the scenario's links and devices, this much slower than they are. Without: machines as they are.
  std::function<double(const core::Scenario&)> time_scale{};
  /// Computation keeps a core busy for each replica, rather than let its time pass.
  bool busy = false;
  Backend backend = Backend::kTcp;
  Gathering gathering{};
  std::string transport = "tcp";  ///< between workers: "tcp", or "shm" for memory that they share
  int streams = 1;                ///< TCP connections between each two, at most kMostStreams
  /// In place of training steps: the first pack so often, back to back. Its record tells when all timed iterations
  /// began (first_start) and ended. REQUIRES: the scenario has one step.
  std::optional<LoopOptions> loop{};
  /// What this machine has left for workers that are started here. Empty: not known.
  FreeMemory free_memory{};
};

/// Runs a scenario for real: one process per worker, on this machine or wherever workers join from, messages over TCP,
/// every element of every result compared. Computation is replayed as time that passes (on GPUs: as kernels that take it). Steps begin together; what
/// happens between them (new inputs, comparing results) is left out of the timeline.
class TcpExecutor : public core::Executor {
 public:
  explicit TcpExecutor(TcpExecutorOptions options);
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

  /// Whether another run follows the next one. Then those who come from elsewhere are told to come again once it is done, at
  /// the same place, which stays open.
  void expect_another(bool another) { options_.gathering.come_again = another; }

  /// Where others are about to join (a launcher started them with this process, or they were told to come again) and run()
  /// is not called: tells them that there will be no run, and why.
  void turn_away(const core::Error& why);

 private:
  core::Expected<void> open();

  TcpExecutorOptions options_;
  std::optional<Listener> listener_;
  std::int64_t others_ = 0;  ///< who are about to join
};

}  // namespace tutti::real
