#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/socket.h"

namespace tutti::real {

/// The value of an environment variable; nothing if it is not set.
using Variables = std::function<std::optional<std::string>(const std::string&)>;

/// Who started this process, as one of several that run the same command.
enum class LauncherKind { kTfConfig, kTorchrun, kOpenMpi, kMpich, kSlurm };
inline constexpr const char* kLaunchers = "auto, none, tf-config, torchrun, openmpi, mpich, slurm";
std::string to_string(LauncherKind kind);
std::optional<LauncherKind> parse_launcher(const std::string& name);

/// This process's place among those that were started together.
struct Launch {
  LauncherKind launcher = LauncherKind::kTfConfig;
  int rank = 0;  ///< rank 0 coordinates
  int size = 1;
  bool one_machine = false;        ///< all of them run on one machine
  std::optional<Address> address;  ///< where rank 0 listens, if the launcher says
  std::string address_from;        ///< which variables say so
  std::string job;                 ///< tells this job from others of this machine; may be empty
};

/// What the variables of the launchers say; `only` looks at one of them. Where several have left theirs (mpirun within
/// srun), the innermost counts: TF_CONFIG, torchrun, Open MPI, MPICH, Slurm. Nothing if none has, or if it started this
/// process alone.
/// ERRORS (requests): variables that contradict each other or make no sense; TF_CONFIG's task is no worker.
core::Expected<std::optional<Launch>> find_launch(const Variables& variables, std::optional<LauncherKind> only = {});

/// The first host of a Slurm list, such as "node[08-11,20],login1" → "node08". Nothing if it is none.
std::optional<std::string> first_host(const std::string& list);

}  // namespace tutti::real
