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

/// NCCL's type of our elements.
ElementType element_type(DataType type);

/// What NCCL makes of a collective, how long that takes alone, and what it is busy with meanwhile.
struct CollectiveTime {
  Version version;
  std::shared_ptr<const Communicator> communicator;
  std::optional<Choice> choice;  ///< nothing of sends and receives, for which NCCL has none
  Prediction time;
  ErrorBand band;
  bool calibrated = false;  ///< time and band are those of a calibration

  /// Whole picoseconds; together what Prediction::us() is.
  Time launch;  ///< until the kernel runs
  Time delay;   ///< hops and the pipeline's first filling: nothing is busy
  Time work;    ///< while data moves; a ring's hops are part of it
  /// Of `work`, for how long the busiest GPU's links and the busiest card are.
  Time links, cards;
  int channels = 1;  ///< thread blocks of a GPU
  /// Read and written in each GPU's memory (docs/models.md, Interference).
  Bytes memory;
  /// The network whose figures were assumed ("tcp"), as no measurement was there to fit them to;
  /// empty if they were fitted.
  std::string assumed_network;

  [[nodiscard]] Time whole() const { return launch + delay + work; }
};

/// Has the collective take at least `least` beside its launch, as `link` needs to carry its bytes.
/// `known`: the time model has figures for that link, so that less was a mistake of its, which
/// Prediction::capped_at then says; else the link is only narrower than those the model looks at.
/// The lower end of the error band is at least that time, too.
void take_at_least(CollectiveTime& time, Time least, const std::string& link, bool known);

/// "Ring LL128, 24 channels × 640 threads", or "sends and receives".
std::string describe(const CollectiveTime& time);

/// NCCL on some GPUs: what it would make of any collective between all of them.
class Predictor {
 public:
  /// `calibration`: what the cluster's own measurements say; null if there are none.
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
  /// `bytes`: as nccl-tests counts them. ERRORS: the settings leave nothing to choose.
  [[nodiscard]] Expected<CollectiveTime> of(CollectiveKind kind, std::int64_t bytes, DataType type,
                                            Reduction reduction) const;
  /// All that it could choose, with NCCL's own estimates; none of sends and receives.
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
