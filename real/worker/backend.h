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

/// Where a real run's buffers lie, and who moves and reduces them.
enum class Backend {
  kTcp,   ///< host memory and the host's cores; messages over TCP
  kCuda,  ///< GPUs with our own kernels; messages over TCP between workers
  kNccl   ///< GPUs and NCCL's collectives
};
std::string to_string(Backend backend);
std::optional<Backend> parse_backend(const std::string& name);
inline constexpr const char* kBackends = "tcp, cuda, nccl";

/// Whether the scenario can be run so, and with `here` whether by this program on this machine: looked at before anything
/// is started. ERRORS (kRequest): the scenario has no GPUs; no module; no driver; no GPU, or too few.
core::Expected<void> check_backend(Backend backend, const core::Scenario& scenario, bool here);

/// The devices of one worker's ranks: its replicas and, if the algorithm uses it, its host.
struct BackendOptions {
  Backend backend = Backend::kTcp;
  std::int32_t worker = 0;
  /// Workers before this one that are on the same machine: their replicas come first on its GPUs.
  std::int32_t workers_before = 0;
  std::int32_t workers_here = 1;  ///< on this machine, this one included
  std::chrono::nanoseconds spin{0};
  std::chrono::duration<double> timeout{60};  ///< for peers to come
  bool follow_channels = false;               ///< NCCL's, to be written down
};
/// Replica i of a worker takes GPU i of its machine, counted on over the workers that share the machine and from 0 again
/// when there are no more: then several ranks share one.
/// ERRORS: as check_backend(); a GPU cannot be used (kRun).
core::Expected<std::unique_ptr<Devices>> make_devices(const BackendOptions& options, const core::Scenario& scenario);

/// All replicas are in one NCCL communicator, whose name has to be handed round: worker 0 makes it.
bool needs_nccl_id(Backend backend, const core::Scenario& scenario);
core::Expected<std::string> make_nccl_id();

/// What carries out the collectives of one worker; empty where that is the interpreter. Waits for the other workers where
/// they share a communicator, and calls `idle` meanwhile, which answers false to give up.
/// REQUIRES: `devices` are of make_devices() with the same options; transport and devices outlive what is made.
/// ERRORS (kRun): NCCL's; not all came in time.
core::Expected<CollectivesMaker> make_collectives(const BackendOptions& options, const core::Scenario& scenario,
                                                  Transport& transport, Devices& devices, const std::string& nccl_id,
                                                  const std::function<bool()>& idle);

}  // namespace tutti::real
