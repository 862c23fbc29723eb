#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// How well the times of a component are known.
enum class KnownTimes {
  kMeasured,  ///< fitted to measurements
  kLinks,     ///< lower bounds: links at their full rate, without the costs of senders
  kPriors,    ///< message costs of hosts as on other machines, within a factor of about two
  kAssumed,   ///< assumed parameters without measurements, with errors in either direction
};

/// The programs that move a scenario's gradients, between workers and inside them, and how well
/// their times are known.
struct Travel {
  struct Part {
    bool nccl = false;      ///< NCCL moves some
    bool messages = false;  ///< messages of other programs (gRPC, Gloo) move some
    KnownTimes nccl_times = KnownTimes::kMeasured;
    KnownTimes message_times = KnownTimes::kLinks;
  };
  Part across;  ///< between workers
  Part inside;  ///< between the replicas of a worker
  /// The network for which NCCL's figures were assumed ("tcp"); empty if there is none.
  std::string assumed_network;
};
Travel travel_of(const Scenario& scenario);
/// True if the same programs move gradients in both, between workers and inside them.
bool same_movers(const Travel& a, const Travel& b);

/// Returns why the step time of `other` cannot be compared with that of `now`, as a sentence
/// without a full stop; empty if it can. Times of the same movers can, since they share their
/// errors. Otherwise the new movers must have measured times, and the old ones must not have
/// assumed times.
std::string why_not_comparable(const Travel& now, const Travel& other);

}  // namespace tutti::core
