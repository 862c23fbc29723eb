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

/// Selects the devices on which communication and computation slow each other down.
enum class Interference {
  kWhereKnown,  ///< GPUs with a known number of multiprocessors
  kOn,          ///< all devices that compute
  kOff,
};
/// Parses "auto", "on" or "off", as on the command line; nullopt for any other text.
std::optional<Interference> parse_interference(const std::string& text);

/// The model by which NCCL's collectives are simulated.
enum class NcclModel {
  kCalibrated,  ///< NCCL's choices, and times that were fitted to measurements; for machines with
                ///< known parameters
  kRings,       ///< ring schedules, in which every message is simulated
};
/// Parses "calibrated" or "rings"; nullopt for any other text.
std::optional<NcclModel> parse_nccl_model(const std::string& text);

struct RunOptions {
  std::int32_t steps = 3;
  std::uint64_t seed = 0;
  /// The compute time of each replica varies randomly by up to ± this fraction, in millionths.
  std::int64_t compute_jitter_ppm = 0;
  NetworkModel network_model = NetworkModel::kFifo;
  Interference interference = Interference::kWhereKnown;
  NcclModel nccl = NcclModel::kCalibrated;
  /// True if asynchronous workers run at least `steps` steps and until their rate is steady
  /// (docs/step-time.md), unless the conditions change during the run. False if they run `steps`
  /// steps.
  bool until_steady = true;
  Conditions conditions;
};

/// A scenario that has been read and checked, with its plan, so that it can be run.
struct Scenario {
  std::string name;
  std::string description;
  std::string file;
  std::string text;
  std::vector<Library::File> files;  ///< all files that the scenario names; a process without
                                     ///< access to them can read the scenario with these copies
  std::shared_ptr<const Cluster> cluster;
  Workload workload;
  Strategy strategy;
  NcclOptions nccl;
  std::vector<Communicator> communicators;
  Plan plan;
  RunOptions run;
  /// The reason why NCCL's collectives are simulated as rings although run.nccl does not say so;
  /// otherwise empty.
  std::string why_rings;
  /// Notes for the user: values in strategy.nccl.set that NCCL replaces, and the transport that is
  /// assumed if the network names none.
  std::vector<std::string> nccl_values;
  /// A predictor of NCCL's times for each combination of nodes, GPUs per node and channels among
  /// the plan's NCCL collectives. A predictor can also predict collectives that are not in the
  /// plan. Empty if NCCL's times cannot be predicted.
  std::vector<std::shared_ptr<const nccl::Predictor>> predictors;
};

/// Reads a scenario in text format or JSON. `library` provides the machines, models and profiles
/// that the scenario names. ERRORS: all problems of the scenario and of the files that it names;
/// each has file:line:column and a remedy.
Expected<Scenario> load_scenario(const std::string& path, const Library& library);
/// Reads a scenario like load_scenario(), but from a text in memory. Error messages use `path` as
/// the name of the text. Relative paths in the text are relative to the folder of `path`.
Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library);

/// Describes a cluster: "2 × dgx1-v100, 16 GPUs".
std::string describe(const Cluster& cluster);
/// The way in which sizes are written in a description.
enum class ShownSizes {
  kInUnits,  ///< in a unit in which the size is a whole number, such as "25 MiB"
  kInBytes   ///< in bytes, such as "26214400"; for digests, which must not change
};
/// Describes a strategy: "pscpu, 2 shards, bytes_per_pack 25 MiB".
std::string describe(const Strategy& strategy, ShownSizes sizes = ShownSizes::kInUnits);

}  // namespace tutti::core
