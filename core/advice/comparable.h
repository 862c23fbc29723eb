#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The source of the times of a communication path, which determines the accuracy of a prediction.
enum class KnownTimes {
  kMeasured,  ///< fitted to measurements
  kLinks,     ///< times are lower bounds, because links run at their full rate, and sending and
              ///< receiving cost nothing
  kPriors,  ///< the host overhead per message was measured on other machines; it is accurate within
            ///< a factor of about two
  kAssumed,  ///< parameters are assumed, without measurements; times may be too high or too low
};

/// The software that moves a scenario's gradients between workers and inside each worker, and the
/// source of its times.
struct DataMovers {
  struct Part {
    bool nccl = false;      ///< NCCL moves some of the data
    bool messages = false;  ///< software other than NCCL (gRPC, Gloo) moves some of the data
    KnownTimes nccl_times = KnownTimes::kMeasured;
    KnownTimes message_times = KnownTimes::kLinks;
  };
  Part across;  ///< communication between workers
  Part inside;  ///< communication between the replicas of a worker
  /// The network whose parameters in NCCL's model are assumed ("tcp"); empty: no parameters are
  /// assumed.
  std::string assumed_network;
};
DataMovers data_movers_of(const Scenario& scenario);
/// True if the same software moves the gradients in both scenarios, both between workers and inside
/// workers.
bool same_data_movers(const DataMovers& a, const DataMovers& b);

/// Returns a sentence without a full stop: the reason why the step times of `now` and `other`
/// cannot be compared. Empty if the step times can be compared. Two predictions for the same
/// software are comparable, because they have the same errors. If the software differs, the
/// scenarios are comparable only if `other` uses measured times and `now` does not use assumed
/// times.
std::string why_not_comparable(const DataMovers& now, const DataMovers& other);

}  // namespace tutti::core
