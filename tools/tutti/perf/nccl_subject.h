#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/machine.h"
#include "core/nccl/calibration/calibration.h"
#include "core/nccl/system.h"
#include "tools/tutti/perf/perf_nccl.h"

namespace tutti::tools {

/// The machines that options name, looked up.
struct NcclPerfSubject {
  std::string machine;
  int machines = 1;
  core::nccl::System system;  ///< the system for NCCL, in which a machine may be several nodes
  core::nccl::Settings settings;
  core::nccl::Communicator comm;
  /// Machines with known links; null: only NCCL's topology file is known.
  std::shared_ptr<const core::Machine> kind;
};

/// Names and values.
using NcclVariables = std::vector<std::pair<std::string, std::string>>;

/// NCCL's variables among "NAME=VALUE". ERRORS: it is none of NCCL's.
core::Expected<NcclVariables> nccl_variables(const std::vector<std::string>& set);

/// ERRORS: there are no such machines, nodes, GPUs, networks, releases or variables; one GPU alone.
core::Expected<NcclPerfSubject> nccl_subject(const NcclPerfOptions& options,
                                             const std::vector<std::string>& set,
                                             const Environment& environment);

/// Null if `path` is empty. ERRORS: the file; it is of other machines than `subject`, or of other
/// figures.
core::Expected<std::shared_ptr<const core::nccl::Calibration>> load_nccl_calibration(
    const std::string& path, const NcclPerfSubject& subject, const NcclVariables& variables,
    const core::nccl::Parameters& figures, const Environment& environment);

}  // namespace tutti::tools
