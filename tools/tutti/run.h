#pragma once

#include "tools/tutti/execute.h"

namespace tutti::tools {

struct RealRunOptions : ExecuteOptions {
  double timeout_seconds = 60;
  bool no_verify = false;
  bool emulate = false;
  std::optional<double> time_scale;
};

/// `tutti run`: replays a scenario with processes and sockets.
int run_for_real(const RealRunOptions& options, const Environment& environment);

struct WorkerOptions {
  std::string join;  ///< "127.0.0.1:4711"
  std::int32_t worker = 0;
};

/// `tutti worker`: one worker process of a run; started by `tutti run`.
int worker(const WorkerOptions& options);

}  // namespace tutti::tools
