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
  std::string program;  ///< path of the tutti program, which is started as worker
  bool verify = true;
  /// The run fails after this time without progress, or without a message from a worker.
  double timeout_seconds = 60;
  /// Returns the slowdown with which the scenario's links and devices are emulated. If this
  /// function is empty, nothing is emulated: machines run at their own speed.
  std::function<double(const core::Scenario&)> time_scale{};
  /// True: replayed computation keeps a core busy for each replica, instead of only waiting.
  bool busy = false;
  Backend backend = Backend::kTcp;
  Gathering gathering{};
  std::string transport = "tcp";  ///< transport between workers: "tcp", or "shm" for shared memory
  int streams = 1;  ///< TCP connections between each pair of workers, at most kMaxStreams
  /// If set, the run executes the first pack repeatedly, back to back, instead of training steps.
  /// The pack's record then has the start (first_start) and the end of all timed iterations
  /// together. REQUIRES: the scenario has one step.
  std::optional<LoopOptions> loop{};
  /// Returns the memory that this machine has left for workers that are started here. Empty:
  /// unknown.
  FreeMemory free_memory{};
};

/// Executes a scenario for real, with one process per worker on this machine or on others, and
/// messages over TCP. Every element of every result is checked. Computation is replayed as time
/// that passes, or on GPUs as kernels of that duration. Training steps begin together on all
/// workers. The time between batches of steps, for new inputs and for comparing results, is not
/// recorded.
class TcpExecutor : public core::Executor {
 public:
  explicit TcpExecutor(TcpExecutorOptions options);
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

  /// `another`: whether another run follows the next one. If so, workers that were started
  /// elsewhere are asked to join again at the same address, which stays open.
  void expect_another(bool another) { options_.gathering.come_again = another; }

  /// Tells processes that are about to join that the run is cancelled, and why. To be called if
  /// run() is not. Such processes were started together with this one by a launcher, or were asked
  /// to join again.
  void turn_away(const core::Error& why);

 private:
  core::Expected<void> open();

  TcpExecutorOptions options_;
  std::optional<Listener> listener_;
  std::int64_t others_ = 0;  ///< number of processes that are about to join
};

}  // namespace tutti::real
