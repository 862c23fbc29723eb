#pragma once

#include "real/coordinator/tcp_executor.h"
#include "tools/tutti/execute.h"

namespace tutti::tools {

/// The options of `tutti run` and `tutti worker` by which the processes of a run find each other.
struct JoinOptions {
  std::string listen;       ///< the address to listen at, "HOST:PORT"
  std::string secret_file;  ///< the file with the secret; default: the variable TUTTI_SECRET
  /// If the launcher does not provide rank 0's address, this option specifies how to find the
  /// coordinator: "HOST:PORT", a folder or a file.
  std::string rendezvous;
  std::string launcher = "auto";
  std::optional<double> wait_seconds;
  std::string tls;  ///< "secret", or the folder with the certificates; empty: no TLS
};

/// The options of all commands that execute real runs.
struct RealOptions {
  JoinOptions join;
  std::string transport;       ///< the transport: tcp (the default) or shm
  std::optional<int> streams;  ///< TCP connections between each pair of workers; default 1
  std::optional<double> timeout_seconds;  ///< the time limit in seconds; default 60
  /// Networks ("ADDRESS/BITS") in which workers may listen, in addition to the address from which
  /// they join.
  std::vector<std::string> worker_networks;
  bool integrity = false;  ///< true: messages between workers have authentication codes
};

/// Returns the options of the executor, except for the options that gather workers
/// (gathering_of()). ERRORS (kRequest): an option is invalid.
core::Expected<real::TcpExecutorOptions> executor_options(const RealOptions& options,
                                                          const std::string& backend);

/// Returns the options for gathering the workers of this run. The option --wait-seconds sets the
/// time limit for workers to join. If this option is not given, and this process starts all
/// workers, the limit is the run's timeout, but at least 10 and at most 60 seconds.
real::Gathering gathering_of(const real::Gathering& part, const RealOptions& options,
                             double timeout_seconds);

struct RealRunOptions : ExecuteOptions {
  std::string backend = "tcp";
  RealOptions real;
  bool no_verify = false;
  std::string compute = "sleep";  ///< replay of computation: "sleep" or "busy"
  bool emulate = false;
  std::optional<double> time_scale;
};

/// `tutti run`: executes a scenario on real machines, with one process per worker.
int run_for_real(const RealRunOptions& options, const Environment& environment);

struct WorkerOptions : JoinOptions {
  std::string join;  ///< the address of the coordinator, such as "10.0.0.1:4711"
  std::int32_t worker = -1;
  /// The process id of the coordinator, which has started this process and reports its errors; 0:
  /// none.
  std::int32_t child_of = 0;
};

/// `tutti worker`: runs one worker process of a run.
int worker(const WorkerOptions& options, const Environment& environment);

}  // namespace tutti::tools
