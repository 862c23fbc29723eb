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

/// The machines that the options specify, in the form in which NCCL's model needs them.
struct NcclPerfSubject {
  std::string machine;
  int machines = 1;
  core::nccl::System
      system;  ///< the system as NCCL sees it; NCCL may treat one machine as several nodes
  core::nccl::Settings settings;
  core::nccl::Communicator comm;
  /// The machine with its links; null if only NCCL's topology file is given.
  std::shared_ptr<const core::Machine> kind;
};

/// Names and values of environment variables of NCCL.
using NcclVariables = std::vector<std::pair<std::string, std::string>>;

/// Parses NCCL variables, each in the form "NAME=VALUE". ERRORS: a name is not an NCCL variable.
core::Expected<NcclVariables> nccl_variables(const std::vector<std::string>& set);

/// Looks up the machines that the options specify. ERRORS: a machine, network, release or variable
/// is unknown; the number of nodes or GPUs is impossible; there is only one GPU.
core::Expected<NcclPerfSubject> nccl_subject(const NcclPerfOptions& options,
                                             const std::vector<std::string>& set,
                                             const Environment& environment);

/// Reads a calibration file. If `path` is empty, returns null. ERRORS: the file cannot be read; the
/// file was made for machines other than `subject`, or with parameters other than `figures`.
core::Expected<std::shared_ptr<const core::nccl::Calibration>> load_nccl_calibration(
    const std::string& path, const NcclPerfSubject& subject, const NcclVariables& variables,
    const core::nccl::Parameters& figures, const Environment& environment);

}  // namespace tutti::tools
