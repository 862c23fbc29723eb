#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The accuracy of the predicted times of a component.
enum class KnownTimes {
  kMeasured,  ///< fitted to measurements
  kLinks,     ///< lower bounds: links at their full rate, without the costs of senders
  kPriors,    ///< message costs of hosts as on other machines, within a factor of about two
  kAssumed,   ///< assumed parameters without measurements, with errors in either direction
};

/// The programs that move a scenario's gradients, between workers and inside them, and the accuracy
/// of their predicted times.
struct Travel {
  struct Part {
    bool nccl = false;      ///< NCCL moves some of the data
    bool messages = false;  ///< messages of other programs (gRPC, Gloo) move some of the data
    KnownTimes nccl_times = KnownTimes::kMeasured;
    KnownTimes message_times = KnownTimes::kLinks;
  };
  Part across;  ///< communication between workers
  Part inside;  ///< communication between the replicas of a worker
  /// The network whose NCCL parameters were assumed ("tcp"); empty if there is none.
  std::string assumed_network;
};
Travel travel_of(const Scenario& scenario);
/// True if the same programs move gradients in both scenarios, between workers and inside them.
bool same_movers(const Travel& a, const Travel& b);

/// Returns the reason why the step time of `other` cannot be compared with that of `now`, as a
/// sentence without a full stop; empty if it can. Predictions for the same programs are comparable,
/// since they share their errors. Otherwise the programs of `other` must have measured times, and
/// those of `now` must not have assumed times.
std::string why_not_comparable(const Travel& now, const Travel& other);

}  // namespace tutti::core
