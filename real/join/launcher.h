#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/socket.h"

namespace tutti::real {

/// A function that returns the value of an environment variable; nullopt if the variable is not
/// set.
using Variables = std::function<std::optional<std::string>(const std::string&)>;

/// The launcher of this process: a program, such as mpirun, that starts several processes with the
/// same command.
enum class LauncherKind { kTfConfig, kTorchrun, kOpenMpi, kMpich, kSlurm };
inline constexpr const char* kLaunchers = "auto, none, tf-config, torchrun, openmpi, mpich, slurm";
std::string to_string(LauncherKind kind);
std::optional<LauncherKind> parse_launcher(const std::string& name);

/// The rank of this process among the processes that were started together.
struct Launch {
  LauncherKind launcher = LauncherKind::kTfConfig;
  int rank = 0;  ///< rank 0 is the coordinator
  int size = 1;
  bool one_machine = false;        ///< true: all ranks run on the same machine
  std::optional<Address> address;  ///< the address of rank 0, if the launcher provides it
  std::string address_from;  ///< the names of the environment variables that provide the address
  /// The name that distinguishes this job from other jobs on this machine; may be empty.
  std::string job;
};

/// Finds the launcher by its environment variables. If `only` is given, looks for that launcher
/// alone. Several launchers may have set variables (such as mpirun inside srun). The innermost
/// launcher is used: the first in the order TF_CONFIG, torchrun, Open MPI, MPICH, Slurm. Returns
/// nullopt if there is no launcher, or if the launcher started only this process. ERRORS
/// (kRequest): variables are invalid or contradict each other; the task in TF_CONFIG is not a
/// worker.
core::Expected<std::optional<Launch>> find_launch(const Variables& variables,
                                                  std::optional<LauncherKind> only = {});

/// Returns the first host of a Slurm host list, such as "node08" for "node[08-11,20],login1".
/// Returns nullopt if the list is invalid.
std::optional<std::string> first_host(const std::string& list);

}  // namespace tutti::real
