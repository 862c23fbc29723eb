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

/// The location of the buffers of a real run, and the component that moves and reduces them.
enum class Backend {
  kTcp,   ///< host memory and the host's cores; messages over TCP
  kCuda,  ///< GPUs with Tutti's own kernels; messages over TCP between workers
  kNccl   ///< GPUs and NCCL's collectives
};
std::string to_string(Backend backend);
std::optional<Backend> parse_backend(const std::string& name);
inline constexpr const char* kBackends = "tcp, cuda, nccl";

/// Checks, before anything is started, that the scenario can be run with this backend, and with
/// `here` also that this program can do so on this machine. ERRORS (kRequest): the scenario has no
/// GPUs; no module; no driver; no GPU, or too few.
core::Expected<void> check_backend(Backend backend, const core::Scenario& scenario, bool here);

/// The devices of one worker's ranks: its replicas and, if the algorithm uses it, its host.
struct BackendOptions {
  Backend backend = Backend::kTcp;
  std::int32_t worker = 0;
  /// The number of workers with lower numbers on the same machine, whose replicas take its first
  /// GPUs.
  std::int32_t workers_before = 0;
  std::int32_t workers_here = 1;  ///< number of workers on this machine, including this one
  std::chrono::nanoseconds spin{0};
  std::chrono::duration<double> timeout{60};  ///< time limit for peers to join
  bool follow_channels = false;               ///< true: record NCCL's channels
};
/// Creates the devices. Replica i of a worker takes GPU i of its machine, counting on over the
/// workers that share the machine, and from 0 again when there are no more: then several ranks
/// share one.
/// ERRORS: as check_backend(); a GPU cannot be used (kRun).
core::Expected<std::unique_ptr<Devices>> make_devices(const BackendOptions& options,
                                                      const core::Scenario& scenario);

/// True if all replicas are in one NCCL communicator. Worker 0 then creates its identifier, and
/// every worker needs it.
bool needs_nccl_id(Backend backend, const core::Scenario& scenario);
core::Expected<std::string> make_nccl_id();

/// Returns a maker of what executes one worker's collectives; empty if that is the interpreter. If
/// workers share a communicator, waits for the others and calls `idle` meanwhile, which returns
/// false to give up.
/// REQUIRES: `devices` are of make_devices() with the same options; transport and devices outlive
/// the result.
/// ERRORS (kRun): NCCL's; not all workers came in time.
core::Expected<CollectivesMaker> make_collectives(const BackendOptions& options,
                                                  const core::Scenario& scenario,
                                                  Transport& transport, Devices& devices,
                                                  const std::string& nccl_id,
                                                  const std::function<bool()>& idle);

}  // namespace tutti::real
