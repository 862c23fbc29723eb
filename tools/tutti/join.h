#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/coordinator/gather.h"
#include "real/join/launcher.h"
#include "real/join/rendezvous.h"
#include "tools/tutti/run.h"

namespace tutti::tools {

/// The role of this process in a run: it coordinates the run, or it joins one.
struct PartInRun {
  bool coordinates = true;
  /// The options for gathering workers, if this process coordinates.
  real::Gathering gathering;
  /// Finds the coordinator, if this process joins.
  std::function<std::optional<real::Appointment>()> where;
  std::optional<real::Launch> launch;
  std::chrono::duration<double> wait{60};
  std::shared_ptr<real::RendezvousFile> rendezvous;
};

/// Returns the role of this process, according to the options and the variables of launchers.
/// `join` is the coordinator's HOST:PORT, if given: then the process joins, regardless of any
/// launcher.
/// ERRORS (requests): contradictions; the coordinator's address is unknown; there is no secret, and
/// processes of other machines could connect.
core::Expected<PartInRun> part_in_run(const JoinOptions& options, const std::string& join,
                                      const real::Variables& variables);
/// Does the same with the environment variables of this process.
core::Expected<PartInRun> own_part(const JoinOptions& options, const std::string& join = "");

/// Runs as a worker of a run that another process coordinates, and returns the exit status.
/// `number`: the worker's index, or -1; `listen`: HOST:PORT for its peers, if not empty; `quiet`:
/// does not print errors, since the process that started it does.
int join_run(const PartInRun& part, std::int32_t number, const std::string& listen, bool quiet);

}  // namespace tutti::tools
