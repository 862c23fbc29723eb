#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The source of the times of a communication path, which determines the accuracy of a prediction.
enum class KnownTimes {
  kMeasured,  ///< fitted to measurements
  kLinks,    ///< lower bounds: links run at their full rate, and sending and receiving cost nothing
  kPriors,   ///< host overhead per message as measured on other machines, known within a factor of
             ///< about two
  kAssumed,  ///< parameters assumed without measurements; times may be too high or too low
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

/// Returns the reason why the step time of `other` cannot be compared with the step time of `now`,
/// as a sentence without a full stop; empty if they can be compared. Two predictions for the same
/// software are comparable, because they have the same errors. If the software differs, the
/// scenarios are comparable only if the times of `other` are measured and the times of `now` are
/// not assumed.
std::string why_not_comparable(const DataMovers& now, const DataMovers& other);

}  // namespace tutti::core
