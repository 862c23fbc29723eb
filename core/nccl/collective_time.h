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

/// Returns the NCCL element type that corresponds to a data type.
ElementType element_type(DataType type);

/// NCCL's choice for a collective, the predicted time of the collective if nothing else runs, and
/// the resources that it occupies.
struct CollectiveTime {
  Version version;
  std::shared_ptr<const Communicator> communicator;
  std::optional<Choice> choice;  ///< nullopt for sends and receives, for which NCCL makes no choice
  Prediction time;
  ErrorBand band;
  bool calibrated = false;  ///< true if the time and the error band were corrected with a
                            ///< calibration

  /// The parts of the time in whole picoseconds. The sum of launch, delay and work equals
  /// Prediction::us().
  Time launch;  ///< time from the launch until the kernel runs
  Time delay;   ///< time of the pipeline fill, and of the hops except those in a ring; no resource
                ///< is busy during this time
  Time work;    ///< time in which data is transferred, including the hops of a ring, which overlap
                ///< with transfers
  /// The time during `work` for which the links of the busiest GPU are busy, and the time for which
  /// the busiest network card is busy.
  Time links, cards;
  int channels = 1;  ///< thread blocks per GPU
  /// The number of bytes that the collective reads and writes in each GPU's memory
  /// (docs/interference.md).
  Bytes memory;
  /// The name of the network ("tcp") if its parameters are assumed, because there are no
  /// measurements of this network; empty if the parameters are fitted to measurements.
  std::string assumed_network;

  [[nodiscard]] Time whole() const { return launch + delay + work; }
};

/// Ensures that the collective's time, without the launch, is at least `least`, the time in which
/// `link` can transfer its bytes. If necessary, the function also raises the lower end of the
/// time's error band. `known` is false if the link is slower than the links that the time model
/// represents. If `known` is true, a time below `least` is an error of the time model, and
/// Prediction::capped_at records the link.
void take_at_least(CollectiveTime& time, Time least, const std::string& link, bool known);

/// Returns a description such as "Ring LL128, 24 channels × 640 threads" or "sends and receives".
std::string describe(const CollectiveTime& time);

/// Predicts NCCL's choice and time for any collective between all GPUs of a communicator.
class Predictor {
 public:
  /// `calibration` contains measurements of the cluster; null: there are no measurements. REQUIRES:
  /// at least two ranks; Calibration::why_not() returns "".
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
  /// Returns NCCL's choice and time for a collective. `bytes` is the size that nccl-tests reports
  /// for the collective. ERRORS: the settings exclude all algorithms and protocols.
  [[nodiscard]] Expected<CollectiveTime> of(CollectiveKind kind, std::int64_t bytes, DataType type,
                                            Reduction reduction) const;
  /// Returns all combinations of algorithm and protocol with NCCL's own time estimates; empty for
  /// sends and receives.
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
