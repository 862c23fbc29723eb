#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/import/late_ranks.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"

namespace tutti::core {

/// A model that the traced job may have trained. Gradients are in creation order.
struct CandidateModel {
  struct Gradient {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t elements = 0;
    std::string type;  ///< for example "float32"
  };
  std::string name;
  std::vector<Gradient> gradients;
};

/// Facts that the user can supply, because a trace may lack them.
struct ScenarioFacts {
  std::string machine;  ///< name of a library machine, or a file; if empty, a library machine with
                        ///< the trace's GPUs is chosen if there is one
  std::optional<std::int64_t> nodes;  ///< default: derived from the number of GPUs in the trace
  std::string link;                   ///< type of the link between nodes; empty: not supplied
  /// The candidate models, which are used if the trace does not have the sizes of gradients. A
  /// model matches if its gradients can be grouped into packs of the measured sizes. If
  /// `requested_model` is true, there is only one model, which the user has chosen, and it must
  /// match.
  std::vector<CandidateModel> models;
  bool requested_model = false;
  /// The gaps of a late rank whose trace was not read, as late_layers() returns them.
  std::vector<LateLayer> late = {};
  std::string calibration = {};  ///< file with corrections of NCCL's times; empty: none
};

struct ScenarioOfRun {
  std::string text;
  std::vector<std::string> notes;  ///< notes on assumptions, and on parts of the trace that the
                                   ///< scenario does not contain
};

/// If the trace lacks the names and sizes of gradients, takes them from a matching model in
/// `facts`. If no model matches but packs have sizes, each pack becomes one gradient. If some
/// gradients are in packs, removes all other gradients, and adds the time of their layers to the
/// next layer with a gradient in a pack, or to the update. If PyTorch DDP cannot form these packs
/// from the gradients, each pack becomes one gradient. Returns notes on the assumptions. ERRORS:
/// the sizes are unknown (kMissing "--model"); the model that the user chose does not match
/// (kConflict "--model"). In case of an error, `model` is unchanged.
Expected<std::vector<std::string>> fit_gradients(StepModel& model, const ScenarioFacts& facts);

/// Returns a scenario (docs/scenarios.md) that describes a measured run. The scenario contains what
/// is known about the cluster, the measured times of layers, the gradients in the order in which
/// they became ready, and the packs. All other collectives become exchanges. `model` is the result
/// of step_model(run), in which all gradients must have sizes.
/// ERRORS: a fact is missing (kMissing, with the option that supplies it: "--machine", "--nodes" or
/// "--link").
Expected<ScenarioOfRun> scenario_of_run(const MeasuredRun& run, const StepModel& model,
                                        const std::string& name, const ScenarioFacts& facts);

/// The size limits of PyTorch DDP's first bucket and of its other buckets. A bucket is closed when
/// its size reaches the limit.
struct BucketLimits {
  std::int64_t first_bytes = 0;
  std::int64_t bytes = 0;
};
/// Returns bucket limits with which PyTorch DDP would form the given buckets; nullopt if no limits
/// give these buckets. DDP's default limits (1 MiB and 25 MiB) are preferred. `gradient_bytes` is
/// in the order in which gradients become ready; `buckets` contains the number of gradients of each
/// bucket.
std::optional<BucketLimits> bucket_limits(const std::vector<std::int64_t>& gradient_bytes,
                                          const std::vector<std::size_t>& buckets);

/// Returns bucket limits with which PyTorch DDP would form the packs of a model; nullopt if no
/// limits give these packs.
std::optional<BucketLimits> limits_of_packs(const StepModel& model);

/// Returns the name of the library machine that has these GPUs; empty if there is none.
std::string machine_with_gpu(const std::string& gpu, std::int64_t gpus_per_host);

}  // namespace tutti::core
