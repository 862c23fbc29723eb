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
  std::string program;  ///< path of the tutti program, from which workers are started
  bool verify = true;
  /// The time without progress, or without a message from a worker, after which the run has failed.
  double timeout_seconds = 60;
  /// Returns the slowdown with which the scenario's links and devices are emulated. Without this
  /// function nothing is emulated: machines run at their own speed.
  std::function<double(const core::Scenario&)> time_scale{};
  /// Computation keeps a core busy for each replica instead of only waiting.
  bool busy = false;
  Backend backend = Backend::kTcp;
  Gathering gathering{};
  std::string transport = "tcp";  ///< transport between workers: "tcp", or "shm" for shared memory
  int streams = 1;  ///< TCP connections between each pair of workers, at most kMaxStreams
  /// If set, the first pack is transferred repeatedly, back to back, instead of training steps. The
  /// record states when the timed iterations began (first_start) and ended. REQUIRES: the scenario
  /// has one step.
  std::optional<LoopOptions> loop{};
  /// The memory that this machine has left for workers that are started here. Empty: unknown.
  FreeMemory free_memory{};
};

/// Executes a scenario for real: one process per worker, on this machine or on others, messages
/// over TCP, every element of every result checked. Computation is replayed as time that passes (on
/// GPUs: as kernels of that length). Steps begin together on all workers. The time between them
/// (new inputs, comparing results) is not recorded.
class TcpExecutor : public core::Executor {
 public:
  explicit TcpExecutor(TcpExecutorOptions options);
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

  /// `another`: another run follows the next one. Workers that were started elsewhere are then
  /// asked to join again at the same address, which stays open.
  void expect_another(bool another) { options_.gathering.come_again = another; }

  /// Tells processes that are about to join that there will be no run, and why, if run() is not
  /// called. Such processes were started together with this one by a launcher, or were asked to
  /// join again.
  void turn_away(const core::Error& why);

 private:
  core::Expected<void> open();

  TcpExecutorOptions options_;
  std::optional<Listener> listener_;
  std::int64_t others_ = 0;  ///< number of processes that are about to join
};

}  // namespace tutti::real
