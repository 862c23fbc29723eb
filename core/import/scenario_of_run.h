#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"

namespace tutti::core {

/// The gradients of a model, by name, in creation order, from which names and sizes may be taken.
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

/// Facts that a trace may lack and that the user can supply.
struct ScenarioFacts {
  std::string machine;  ///< name of a library machine, or a file; empty: chosen by the GPU's name
                        ///< if possible
  std::optional<std::int64_t> nodes;  ///< default: derived from the number of GPUs in the trace
  std::string link;                   ///< link between nodes
  /// If the trace has no sizes of gradients, a model is searched here whose gradients have the
  /// sizes of the packs. If there is only one, `model_asked`, it must match.
  std::vector<CandidateModel> models;
  bool model_asked = false;
};

struct ScenarioOfRun {
  std::string text;
  std::vector<std::string>
      notes;  ///< assumptions, and contents of the trace that the scenario lacks
};

/// Sets the names and sizes of gradients that the trace lacks, from one of the models of `facts`;
/// if only packs have sizes and no model matches, each pack becomes one gradient. Returns notes on
/// the assumptions. ERRORS: there is no source of sizes (kMissing "--model"); a requested model
/// does not match (kConflict "--model"). After an error `model` is unchanged.
Expected<std::vector<std::string>> fit_gradients(StepModel& model, const ScenarioFacts& facts);

/// Returns the scenario (docs/scenarios.md) of a measured run: its cluster as far as it is known,
/// the measured times of layers, gradients in the order in which they became ready, packs as
/// recognised, and other collectives as exchanges of communicators. `model` is the model of the
/// run, with the sizes of all gradients.
/// ERRORS: missing facts, each with the option that supplies it (kMissing "--machine", "--nodes",
/// "--link").
Expected<ScenarioOfRun> scenario_of_run(const MeasuredRun& run, const StepModel& model,
                                        const std::string& name, const ScenarioFacts& facts);

/// The limits with which PyTorch DDP makes given buckets of gradients: a bucket is closed when its
/// size reaches the limit.
struct BucketLimits {
  std::int64_t first_bytes = 0;
  std::int64_t bytes = 0;
};
/// The gradients are in the order in which they become ready; `counts` has the number in each
/// bucket. Returns PyTorch's defaults (1 MiB and 25 MiB) if they produce these buckets; nullopt if
/// no limits do.
std::optional<BucketLimits> bucket_limits(const std::vector<std::int64_t>& gradient_bytes,
                                          const std::vector<std::size_t>& buckets);

/// Returns the shipped machine with such GPUs; empty if there is none.
std::string machine_with_gpu(const std::string& gpu, std::int64_t gpus_per_host);

}  // namespace tutti::core
