#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/coordinator/gather.h"
#include "real/join/launcher.h"
#include "real/join/rendezvous.h"
#include "tools/tutti/run.h"

namespace tutti::tools {

/// The role of this process in a run, which it either coordinates or joins.
struct PartInRun {
  bool coordinates = true;
  /// If this process coordinates: the options for gathering workers.
  real::Gathering gathering;
  /// If this process joins: finds the coordinator.
  std::function<std::optional<real::Appointment>()> where;
  std::optional<real::Launch> launch;
  std::chrono::duration<double> wait{60};
  std::shared_ptr<real::RendezvousFile> rendezvous;
};

/// Returns the role of this process, according to the options and the environment variables of
/// launchers. `join`: the coordinator's HOST:PORT; if it is not empty, the process joins, whatever
/// the launcher.
/// ERRORS (requests): options or variables contradict each other; the coordinator's address is
/// unknown; there is no secret although processes of other machines can connect.
core::Expected<PartInRun> part_in_run(const JoinOptions& options, const std::string& join,
                                      const real::Variables& variables);
/// Does the same with the environment variables of this process.
core::Expected<PartInRun> own_part(const JoinOptions& options, const std::string& join = "");

/// Runs this process as a worker of a run that another process coordinates. Returns the exit
/// status. `number`: the worker's number; -1: any. `listen`: HOST:PORT for peers; empty: the
/// default. `quiet`: does not print errors, since the process that started this one prints them.
int join_run(const PartInRun& part, std::int32_t number, const std::string& listen, bool quiet);

}  // namespace tutti::tools
