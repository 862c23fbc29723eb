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

/// The devices on which communication and computation slow each other.
enum class Interference {
  kWhereKnown,  ///< GPUs whose number of multiprocessors is known
  kOn,          ///< all devices that compute
  kOff,
};
/// Parses the command line's "auto", "on" or "off", and returns nullopt for any other text.
std::optional<Interference> parse_interference(const std::string& text);

/// The model with which NCCL's collectives are simulated.
enum class NcclModel {
  kCalibrated,  ///< NCCL's choices and times that were fitted to measurements, on machines with
                ///< known parameters
  kRings,       ///< ring schedules, whose messages are simulated one by one
};
/// Parses "calibrated" or "rings", and returns nullopt for any other text.
std::optional<NcclModel> parse_nccl_model(const std::string& text);

struct RunOptions {
  std::int32_t steps = 3;
  std::uint64_t seed = 0;
  /// The compute time of each replica varies randomly by up to ± this share, in millionths.
  std::int64_t compute_jitter_ppm = 0;
  NetworkModel network_model = NetworkModel::kFifo;
  Interference interference = Interference::kWhereKnown;
  NcclModel nccl = NcclModel::kCalibrated;
  /// True if asynchronous workers continue after `steps` steps until their rate is steady
  /// (docs/models.md). False: they run `steps` steps.
  bool until_steady = true;
  Conditions conditions;
};

/// A scenario that was read, checked and planned, so that it can be run.
struct Scenario {
  std::string name;
  std::string description;
  std::string file;
  std::string text;
  std::vector<Library::File> files;  ///< all files that the scenario names; with these files, the
                                     ///< scenario can be read on any machine
  std::shared_ptr<const Cluster> cluster;
  Workload workload;
  Strategy strategy;
  NcclOptions nccl;
  std::vector<Communicator> communicators;
  Plan plan;
  RunOptions run;
  /// The reason why NCCL's collectives are simulated as rings although run.nccl does not request
  /// this; empty if there is no such reason.
  std::string why_rings;
  /// Notes about values in strategy.nccl.set that NCCL replaces, and about the transport that is
  /// assumed if the network states none.
  std::vector<std::string> nccl_values;
  /// By communicator of the plan: a predictor of NCCL's times, which includes collectives that the
  /// plan does not have. Empty if NCCL's times are not known.
  std::vector<std::shared_ptr<const nccl::Predictor>> predictors;
};

/// Reads a scenario in text format or JSON. `library` finds the machines, models and profiles that
/// the scenario names. ERRORS: all problems of the scenario and of the files that it names, each
/// with file:line:column and a remedy.
Expected<Scenario> load_scenario(const std::string& path, const Library& library);
/// Does the same as load_scenario(), for a text in memory. Errors name the text `path`. Relative
/// paths in the text are relative to the folder of `path`.
Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library);

/// Describes a cluster: "2 × dgx1-v100, 16 GPUs".
std::string describe(const Cluster& cluster);
/// The spelling of sizes in a description.
enum class ShownSizes {
  kInUnits,  ///< the unit in which a size is a whole number: "25 MiB"
  kInBytes   ///< the number of bytes: "26214400"; for digests, which must not change
};
/// Describes a strategy: "pscpu, 2 shards, bytes_per_pack 25 MiB".
std::string describe(const Strategy& strategy, ShownSizes sizes = ShownSizes::kInUnits);

}  // namespace tutti::core
