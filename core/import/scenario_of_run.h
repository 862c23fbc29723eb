#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"

namespace tutti::core {

/// The gradients of a model, by name, in creation order: what names and sizes may be taken from.
struct CandidateModel {
  struct Gradient {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t elements = 0;
    std::string type;  ///< "float32"
  };
  std::string name;
  std::vector<Gradient> gradients;
};

/// What a trace does not say, and its user may.
struct ScenarioFacts {
  std::string machine;  ///< a shipped machine or a file; empty: by the GPU's name, if there is such
                        ///< a machine
  std::optional<std::int64_t> nodes;  ///< default: as many as the GPUs of the trace's hosts make
  std::string link;                   ///< between nodes
  /// Looked through for one whose gradients have the sizes of the packs, where the trace has no
  /// sizes of gradients. If it is only one, `model_asked`, it must fit.
  std::vector<CandidateModel> models;
  bool model_asked = false;
};

struct ScenarioOfRun {
  std::string text;
  std::vector<std::string>
      notes;  ///< what was assumed, and what is in the trace but not in the scenario
};

/// Gives the gradients of `model` the names and sizes that the trace lacks, by one of the models of
/// `facts`; where only packs have sizes and no model fits, each pack becomes one gradient. Returns
/// notes on what was assumed. ERRORS: nothing gives sizes (kMissing "--model"); a model that was
/// asked for does not fit (kConflict "--model"). `model` is then as it was.
Expected<std::vector<std::string>> fit_gradients(StepModel& model, const ScenarioFacts& facts);

/// The scenario (docs/scenarios.md) of a measured run: its cluster as far as known, the measured
/// times of layers, gradients in the order in which they became ready, packs as recognised, and
/// other collectives as exchanges of communicators. `model`: of the run, with all gradients' sizes.
/// ERRORS: what is not known and has to be given, each by the option that gives it (kMissing
/// "--machine", "--nodes", "--link").
Expected<ScenarioOfRun> scenario_of_run(const MeasuredRun& run, const StepModel& model,
                                        const std::string& name, const ScenarioFacts& facts);

/// The limits by which PyTorch DDP makes these buckets of gradients: a bucket is closed once it
/// holds as much as the limit.
struct BucketLimits {
  std::int64_t first_bytes = 0;
  std::int64_t bytes = 0;
};
/// Of gradients in the order in which they become ready, and how many are in each bucket. The
/// limits that PyTorch has by default (1 MiB and 25 MiB) if they do; nothing if none do.
std::optional<BucketLimits> bucket_limits(const std::vector<std::int64_t>& gradient_bytes,
                                          const std::vector<std::size_t>& buckets);

/// The shipped machine with such GPUs; empty if there is none.
std::string machine_with_gpu(const std::string& gpu, std::int64_t gpus_per_host);

}  // namespace tutti::core
