#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/cluster/cluster.h"
#include "core/lowering/plan.h"
#include "core/network/model.h"
#include "core/scenario/conditions.h"
#include "core/scenario/library.h"
#include "core/scenario/nccl_options.h"
#include "core/strategy/strategy.h"
#include "core/workload/workload.h"

namespace tutti::core {

namespace nccl {
class Predictor;
}

/// Selects where communication and computation slow each other.
enum class Interference {
  kWhereKnown,  ///< on GPUs whose multiprocessors are known
  kOn,          ///< on all devices that compute
  kOff,
};
/// Parses "auto", "on" or "off" of the command line; returns nullopt for any other text.
std::optional<Interference> parse_interference(const std::string& text);

/// The model that simulates NCCL's collectives.
enum class NcclModel {
  kCalibrated,  ///< NCCL's choice and fitted times, for machines that have them
  kRings,       ///< schedules of rings, message by message
};
/// Parses "calibrated" or "rings"; returns nullopt for any other text.
std::optional<NcclModel> parse_nccl_model(const std::string& text);

struct RunOptions {
  std::int32_t steps = 3;
  std::uint64_t seed = 0;
  /// The computation of replicas varies by ± this, in millionths.
  std::int64_t compute_jitter_ppm = 0;
  NetworkModel network_model = NetworkModel::kFifo;
  Interference interference = Interference::kWhereKnown;
  NcclModel nccl = NcclModel::kCalibrated;
  /// Asynchronous workers continue until their rate is steady, for at least `steps`
  /// (docs/models.md). False: for `steps`.
  bool until_steady = true;
  Conditions conditions;
};

/// A scenario that was read and checked: it can be planned and run.
struct Scenario {
  std::string name;
  std::string description;
  std::string file;
  std::string text;
  std::vector<Library::File> files;  ///< the files that the scenario names; with them it can be
                                     ///< read on any machine
  std::shared_ptr<const Cluster> cluster;
  Workload workload;
  Strategy strategy;
  NcclOptions nccl;
  std::vector<Communicator> communicators;
  Plan plan;
  RunOptions run;
  /// The reason why NCCL's collectives are simulated as rings, unless this was requested
  /// (run.nccl); otherwise empty.
  std::string why_rings;
  /// Notes on values of strategy.nccl.set that NCCL replaces by others, and on the assumed
  /// transport if the network states none.
  std::vector<std::string> nccl_values;
  /// NCCL between the GPUs of each of the plan's communicators, for collectives that the plan does
  /// not have. Empty if its times are not known.
  std::vector<std::shared_ptr<const nccl::Predictor>> predictors;
};

/// Reads a scenario in text format or JSON. `library` finds the machines, models and profiles that
/// it names. ERRORS: all errors of the scenario and of the machine, model and profile files that it
/// names, each with file:line:column and a remedy.
Expected<Scenario> load_scenario(const std::string& path, const Library& library);
/// Parses a scenario from memory; errors use `path`, and relative paths in the text start from
/// there.
Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library);

/// "2 × dgx1-v100, 16 GPUs".
std::string describe(const Cluster& cluster);
/// Returns a description such as "pscpu, 2 shards, packs over 25.0 MiB".
std::string describe(const Strategy& strategy);

}  // namespace tutti::core
