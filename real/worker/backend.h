#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/transport/devices.h"
#include "real/worker/worker_run.h"

namespace tutti::real {

/// A backend defines where the buffers of a real run are stored, and which component moves and
/// reduces the data.
enum class Backend {
  kTcp,   ///< host memory and CPU cores; messages over TCP
  kCuda,  ///< GPUs with Tutti's own kernels; messages over TCP between workers
  kNccl   ///< GPUs and NCCL's collectives
};
std::string to_string(Backend backend);
std::optional<Backend> parse_backend(const std::string& name);
inline constexpr const char* kBackends = "tcp, cuda, nccl";

/// Checks that the scenario can run with this backend. To be called before a run is started. If
/// `here` is true, also checks that the scenario can run on this machine. ERRORS (kRequest): the
/// scenario has no GPUs; the module or the driver is missing; this machine has no GPUs, or too few.
core::Expected<void> check_backend(Backend backend, const core::Scenario& scenario, bool here);

/// The parameters of the devices and collectives of one worker.
struct BackendOptions {
  Backend backend = Backend::kTcp;
  std::int32_t worker = 0;
  /// The number of workers with lower numbers on the same machine. The replicas of these workers
  /// use the machine's first GPUs.
  std::int32_t workers_before = 0;
  std::int32_t workers_here = 1;  ///< number of workers on this machine, including this one
  std::chrono::nanoseconds spin{0};
  std::chrono::duration<double> timeout{60};  ///< time limit for peers to join
  bool follow_channels = false;               ///< true: record NCCL's channels
};
/// Creates the devices of one worker's replicas, and of the worker's host if the algorithm uses the
/// host. The replicas of all workers on a machine are assigned to the machine's GPUs in order. If
/// there are more replicas than GPUs, the assignment starts again at GPU 0, and several ranks share
/// a GPU. ERRORS: those of check_backend(); a GPU cannot be used (kRun).
core::Expected<std::unique_ptr<Devices>> make_devices(const BackendOptions& options,
                                                      const core::Scenario& scenario);

/// Returns true if all replicas are in one NCCL communicator. Worker 0 then creates the
/// communicator's identifier, which every worker needs.
bool needs_nccl_id(Backend backend, const core::Scenario& scenario);
core::Expected<std::string> make_nccl_id();

/// Returns a function that creates the Collectives of one worker, if NCCL executes the collectives.
/// For all other backends, returns an empty function; the caller then uses the class Interpreter
/// (real/interpreter/interpreter.h). If workers share a communicator, waits for the other workers.
/// During the wait, calls `idle` regularly; if `idle` returns false, the wait is cancelled.
/// REQUIRES: `devices` were created by make_devices() with the same options; transport and devices
/// outlive the result.
/// ERRORS (kRun): an NCCL error; a worker did not join in time.
core::Expected<CollectivesMaker> make_collectives(const BackendOptions& options,
                                                  const core::Scenario& scenario,
                                                  Transport& transport, Devices& devices,
                                                  const std::string& nccl_id,
                                                  const std::function<bool()>& idle);

}  // namespace tutti::real
