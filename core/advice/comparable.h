#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The source of the parameters from which communication times are predicted. The source determines
/// how accurate the times are.
enum class KnownTimes {
  kMeasured,  ///< fitted to measurements
  kLinks,     ///< the prediction assumes that links run at their full rate and that hosts need no
              ///< time to send and receive, so predicted times are lower bounds
  kPriors,    ///< the host overhead per message was measured on other machines, and is accurate
              ///< within a factor of about two
  kAssumed,   ///< parameters are assumed without measurements, so times may be too high or too low
};

/// The software that moves gradients, and the source of the predicted communication times. Both are
/// given separately for communication between workers and inside workers.
struct DataMovers {
  struct Part {
    bool nccl = false;      ///< NCCL moves some of the data
    bool messages = false;  ///< software other than NCCL (gRPC, Gloo) moves some of the data
    KnownTimes nccl_times = KnownTimes::kMeasured;
    KnownTimes message_times = KnownTimes::kLinks;
  };
  Part across;  ///< communication between workers
  Part inside;  ///< communication between the replicas of a worker
  /// The type of the network ("tcp") if the parameters of NCCL's model for this network are assumed
  /// without measurements; otherwise empty.
  std::string assumed_network;
};
DataMovers data_movers_of(const Scenario& scenario);
/// True if the same software moves the gradients in both scenarios, both between workers and inside
/// workers.
bool same_data_movers(const DataMovers& a, const DataMovers& b);

/// Returns the reason why the step times of two scenarios cannot be compared, as a sentence without
/// a full stop. The result is empty if the step times can be compared. Predictions for the same
/// software are comparable, because they have similar errors. Predictions for different software
/// are comparable only if `other` uses measured times and `now` does not use assumed times.
std::string why_not_comparable(const DataMovers& now, const DataMovers& other);

}  // namespace tutti::core
