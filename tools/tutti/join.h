#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/coordinator/gather.h"
#include "real/join/launcher.h"
#include "real/join/rendezvous.h"
#include "tools/tutti/run.h"

namespace tutti::tools {

/// The part of this process in a run: it coordinates, or it joins.
struct PartInRun {
  bool coordinates = true;
  real::Gathering gathering;                                ///< if it coordinates
  std::function<std::optional<real::Appointment>()> where;  ///< if it joins
  std::optional<real::Launch> launch;
  std::chrono::duration<double> wait{60};
  std::shared_ptr<real::RendezvousFile> rendezvous;
};

/// What options and the variables of launchers make of this process. `join` is the coordinator's HOST:PORT, if it was
/// given: then it joins, whatever launched it.
/// ERRORS (requests): they contradict each other; nobody says where the coordinator is; without a secret, other machines
/// would be let in.
core::Expected<PartInRun> part_in_run(const JoinOptions& options, const std::string& join,
                                      const real::Variables& variables);
/// The same by the variables of this process.
core::Expected<PartInRun> own_part(const JoinOptions& options, const std::string& join = "");

/// Lives as a worker of a run that somebody else coordinates, and answers the exit status. `number`: which worker, or -1;
/// `listen`: HOST:PORT for its peers, if not empty; `quiet`: whoever started it says what goes wrong.
int join_run(const PartInRun& part, std::int32_t number, const std::string& listen, bool quiet);

}  // namespace tutti::tools
