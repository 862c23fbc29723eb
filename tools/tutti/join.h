#pragma once

#include <memory>
#include <optional>
#include <string>

#include "real/gather.h"
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

}  // namespace tutti::tools
