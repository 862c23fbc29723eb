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
  /// The run fails after this time without progress. The run also fails if a worker sends no
  /// message for this time, or for three seconds if this time is shorter.
  double timeout_seconds = 60;
  /// Returns the factor by which emulated links and devices are slower than those in the scenario.
  /// If this function is empty, nothing is emulated, and the machines run at full speed.
  std::function<double(const core::Scenario&)> time_scale{};
  /// True: during replayed computation, each replica keeps a core busy. False: each replica waits.
  bool busy = false;
  Backend backend = Backend::kTcp;
  Gathering gathering{};
  std::string transport = "tcp";  ///< transport between workers: "tcp", or "shm" for shared memory
  int streams = 1;  ///< TCP connections between each pair of workers, at most kMaxStreams
  /// True: every message between workers has an authentication code.
  bool integrity = false;
  /// If set, the run executes the first pack repeatedly, back to back, instead of training steps.
  /// The record of the pack then has the start of the first timed iteration (first_start) and the
  /// end of the last timed iteration. REQUIRES: the scenario has one step.
  std::optional<LoopOptions> loop{};
  /// Returns the free memory of the machine on which this process runs, for the workers that this
  /// process starts. If this function is empty, the free memory is unknown.
  FreeMemory free_memory{};
  /// Prints a warning before the run starts. If this function is empty, no warnings are printed.
  std::function<void(const std::string&)> warn{};
};

/// Executes a scenario on real machines: one process per worker, on this machine or on other
/// machines. Messages between workers travel over TCP, shared memory or NCCL. If
/// TcpExecutorOptions::verify is true, every element of every result is checked. Computation is
/// only replayed: for the duration that the scenario determines, a replica waits, keeps a core
/// busy, or runs a kernel on its GPU. Each batch of training steps begins at the same time on all
/// workers. The time between batches, which is spent on new inputs and on comparing results, is not
/// recorded.
class TcpExecutor : public core::Executor {
 public:
  explicit TcpExecutor(TcpExecutorOptions options);
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

  /// Sets whether another run will follow the next run. If another run follows, the address stays
  /// open after the next run, and workers that were started elsewhere are asked to join again at
  /// this address.
  void expect_another(bool another) { options_.gathering.come_again = another; }

  /// Informs processes that are about to join that the run is cancelled, with the reason `why`.
  /// The processes that are about to join are those that a launcher started together with this
  /// process, and workers that were asked to join again. Call this function if run() will not be
  /// called.
  void refuse_joiners(const core::Error& why);

 private:
  core::Expected<void> open();

  TcpExecutorOptions options_;
  std::optional<Listener> listener_;
  std::int64_t joining_ = 0;  ///< the number of processes that are about to join
};

}  // namespace tutti::real
