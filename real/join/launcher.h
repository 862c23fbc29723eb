#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/socket.h"

namespace tutti::real {

/// A function that returns the value of an environment variable; nothing if it is not set.
using Variables = std::function<std::optional<std::string>(const std::string&)>;

/// The program that started this process, as one of several that run the same command.
enum class LauncherKind { kTfConfig, kTorchrun, kOpenMpi, kMpich, kSlurm };
inline constexpr const char* kLaunchers = "auto, none, tf-config, torchrun, openmpi, mpich, slurm";
std::string to_string(LauncherKind kind);
std::optional<LauncherKind> parse_launcher(const std::string& name);

/// The rank of this process among those that were started together.
struct Launch {
  LauncherKind launcher = LauncherKind::kTfConfig;
  int rank = 0;  ///< rank 0 is the coordinator
  int size = 1;
  bool one_machine = false;        ///< true: all ranks run on one machine
  std::optional<Address> address;  ///< address of rank 0, if the launcher provides it
  std::string address_from;        ///< names of the variables that provide the address
  std::string job;  ///< distinguishes this job from others on this machine; may be empty
};

/// Evaluates the environment variables of the launchers, or with `only` those of one. If several
/// launchers have set theirs (mpirun within srun), the innermost counts: TF_CONFIG, torchrun, Open
/// MPI, MPICH, Slurm. Returns nothing if there is none, or if it started this process alone.
/// ERRORS (requests): variables that contradict each other or make no sense; TF_CONFIG's task is no
/// worker.
core::Expected<std::optional<Launch>> find_launch(const Variables& variables,
                                                  std::optional<LauncherKind> only = {});

/// Returns the first host of a Slurm list: "node[08-11,20],login1" → "node08". Nothing if the list
/// is invalid.
std::optional<std::string> first_host(const std::string& list);

}  // namespace tutti::real
