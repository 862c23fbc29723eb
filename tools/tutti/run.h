#pragma once

#include "real/coordinator/tcp_executor.h"
#include "tools/tutti/execute.h"

namespace tutti::tools {

/// How processes of one run find each other: what run and worker have in common.
struct JoinOptions {
  std::string listen;       ///< "HOST:PORT"
  std::string secret_file;  ///< holds the secret; else TUTTI_SECRET does
  std::string rendezvous;   ///< "HOST:PORT", a folder or a file, where the launcher does not say where rank 0 is
  std::string launcher = "auto";
  std::optional<double> wait_seconds;
};

/// What all commands that run for real have in common.
struct RealOptions {
  JoinOptions join;
  std::string transport;                  ///< tcp (the default) or shm
  std::optional<int> streams;             ///< TCP connections between each two workers; 1
  std::optional<double> timeout_seconds;  ///< default 60
};

/// What they come to, but for how workers come together. ERRORS (requests): an option is wrong.
core::Expected<real::TcpExecutorOptions> executor_options(const RealOptions& options, const std::string& backend);

struct RealRunOptions : ExecuteOptions {
  std::string backend = "tcp";
  RealOptions real;
  bool no_verify = false;
  std::string compute = "sleep";  ///< or busy
  bool emulate = false;
  std::optional<double> time_scale;
};

/// `tutti run`: replays a scenario with processes and sockets.
int run_for_real(const RealRunOptions& options, const Environment& environment);

struct WorkerOptions : JoinOptions {
  std::string join;  ///< "10.0.0.1:4711"
  std::int32_t worker = -1;
  std::int32_t child_of =
      0;  ///< the coordinator's process, which started this one and says what goes wrong; 0: none did
};

/// `tutti worker`: one worker process of a run.
int worker(const WorkerOptions& options, const Environment& environment);

}  // namespace tutti::tools
