#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/coordinator/gather.h"
#include "real/join/launcher.h"
#include "real/join/rendezvous.h"
#include "tools/tutti/run.h"

namespace tutti::tools {

/// The role of this process in a run: the process either coordinates the run or joins it.
struct PartInRun {
  bool coordinates = true;
  /// If this process coordinates: the options for gathering workers.
  real::Gathering gathering;
  /// If this process joins: the options for finding the coordinator.
  std::function<std::optional<real::Appointment>()> where;
  std::optional<real::Launch> launch;
  std::chrono::duration<double> wait{60};
  std::shared_ptr<real::RendezvousFile> rendezvous;
};

/// Returns the role of this process, according to the options and the environment variables of
/// launchers. `join`: the coordinator's HOST:PORT. If `join` is not empty, the process joins a run,
/// even if a launcher started the process.
/// ERRORS (kRequest): options or variables contradict each other; the coordinator's address is
/// unknown; or processes of other machines can connect, but there is no secret.
core::Expected<PartInRun> part_in_run(const JoinOptions& options, const std::string& join,
                                      const real::Variables& variables);
/// Like the function above, with the environment variables of this process.
core::Expected<PartInRun> own_part(const JoinOptions& options, const std::string& join = "");

/// Runs this process as a worker of a run that another process coordinates. Returns the exit
/// status. `number`: the worker's number; -1: any. `listen`: HOST:PORT for peers; empty: the
/// default. `quiet`: true if the parent process prints the errors of this process, so that this
/// process does not print them.
int join_run(const PartInRun& part, std::int32_t number, const std::string& listen, bool quiet);

}  // namespace tutti::tools
