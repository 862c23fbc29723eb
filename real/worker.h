#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::real {

/// How a worker process finds its run.
struct WorkerJoin {
  std::string host;
  int port = 0;  ///< the coordinator's
  std::string secret;
  std::int32_t worker = 0;
};

/// The life of a worker process: joins, does its steps, ends when the coordinator says so or is gone.
/// ERRORS: anything that keeps it from that; the coordinator has been told if it could be.
core::Expected<void> work(const WorkerJoin& join);

}  // namespace tutti::real
