#pragma once

#include "real/coordinator/tcp_executor.h"
#include "tools/tutti/execute.h"

namespace tutti::tools {

/// The options by which the processes of a run find each other; common to run and worker.
struct JoinOptions {
  std::string listen;       ///< address to listen at, "HOST:PORT"
  std::string secret_file;  ///< file with the secret; by default the secret is in TUTTI_SECRET
  /// "HOST:PORT", a folder or a file; needed if the launcher does not provide rank 0's address.
  std::string rendezvous;
  std::string launcher = "auto";
  std::optional<double> wait_seconds;
};

/// The options of all commands that run for real.
struct RealOptions {
  JoinOptions join;
  std::string transport;       ///< tcp (the default) or shm
  std::optional<int> streams;  ///< TCP connections between each pair of workers; default 1
  std::optional<double> timeout_seconds;  ///< time limit in seconds; default 60
};

/// Returns the executor's options, without how workers find each other. ERRORS (requests): an
/// option is invalid.
core::Expected<real::TcpExecutorOptions> executor_options(const RealOptions& options,
                                                          const std::string& backend);

/// Returns how the workers of this run meet. Workers that are all started here have the run's
/// timeout to join, between 10 and 60 seconds, unless --wait-seconds gives them another time.
real::Gathering gathering_of(const real::Gathering& part, const RealOptions& options,
                             double timeout_seconds);

struct RealRunOptions : ExecuteOptions {
  std::string backend = "tcp";
  RealOptions real;
  bool no_verify = false;
  std::string compute = "sleep";  ///< how to represent computation: sleep or busy
  bool emulate = false;
  std::optional<double> time_scale;
};

/// `tutti run`: executes a scenario with processes and sockets.
int run_for_real(const RealRunOptions& options, const Environment& environment);

struct WorkerOptions : JoinOptions {
  std::string join;  ///< address of the coordinator, such as "10.0.0.1:4711"
  std::int32_t worker = -1;
  std::int32_t child_of =
      0;  ///< process of the coordinator, which started this one and reports its errors; 0: none
};

/// `tutti worker`: runs one worker process of a run.
int worker(const WorkerOptions& options, const Environment& environment);

}  // namespace tutti::tools
