#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/data_type.h"
#include "core/base/units.h"
#include "core/nccl/communicator.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/time/prediction.h"
#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {

class Calibration;

/// Returns NCCL's type for Tutti's type of elements.
ElementType element_type(DataType type);

/// NCCL's choice for a collective, its time if it runs alone, and the resources that it keeps busy.
struct CollectiveTime {
  Version version;
  std::shared_ptr<const Communicator> communicator;
  std::optional<Choice> choice;  ///< empty for sends and receives, for which NCCL makes no choice
  Prediction time;
  ErrorBand band;
  bool calibrated = false;  ///< true if time and band come from a calibration

  /// Whole picoseconds; the sum of all parts equals Prediction::us().
  Time launch;  ///< time until the kernel runs
  Time delay;   ///< hops and the initial pipeline fill; no resource is busy
  Time work;    ///< time during which data moves, including a ring's hops
  /// The time within `work` for which the links of the busiest GPU, and the busiest card, are busy.
  Time links, cards;
  int channels = 1;  ///< thread blocks per GPU
  /// The bytes read and written in each GPU's memory (docs/interference.md).
  Bytes memory;
  /// The network whose parameters were assumed ("tcp") because no measurement was available; empty
  /// if they were fitted.
  std::string assumed_network;

  [[nodiscard]] Time whole() const { return launch + delay + work; }
};

/// Raises the time, without the launch, to at least `least`, which `link` needs to carry its bytes.
/// `known` is true if the time model has parameters for that link, so that a smaller time is an
/// error of the model, which Prediction::capped_at then records; otherwise the link is only
/// narrower than those in the model. The lower end of the error band is raised too.
void take_at_least(CollectiveTime& time, Time least, const std::string& link, bool known);

/// Returns a description such as "Ring LL128, 24 channels × 640 threads", or "sends and receives".
std::string describe(const CollectiveTime& time);

/// Predicts NCCL's choice and time for any collective between all GPUs of a communicator.
class Predictor {
 public:
  /// `calibration` has the cluster's own measurements; null if there are none.
  /// REQUIRES: at least two ranks; Calibration::why_not() is empty.
  Predictor(const System& system, const Communicator& communicator, const Settings& settings,
            const Parameters& parameters, const ErrorBands& bands,
            std::shared_ptr<const Calibration> calibration = nullptr)
      : system_(system),
        comm_(std::make_shared<const Communicator>(communicator)),
        model_(tune(communicator, settings)),
        parameters_(parameters),
        bands_(bands),
        calibration_(std::move(calibration)) {}

  [[nodiscard]] const Communicator& communicator() const { return *comm_; }
  /// `bytes` are counted as in nccl-tests. ERRORS: the settings leave nothing to choose.
  [[nodiscard]] Expected<CollectiveTime> of(CollectiveKind kind, std::int64_t bytes, DataType type,
                                            Reduction reduction) const;
  /// Returns all possible choices, with NCCL's own estimates; empty for sends and receives.
  [[nodiscard]] std::vector<Candidate> considered(CollectiveKind kind, std::int64_t bytes,
                                                  DataType type, Reduction reduction) const;

 private:
  System system_;
  std::shared_ptr<const Communicator> comm_;
  Model model_;
  Parameters parameters_;
  ErrorBands bands_;
  std::shared_ptr<const Calibration> calibration_;
};

}  // namespace tutti::core::nccl
