#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// How much is known of the times in which something moves.
enum class KnownTimes {
  kMeasured,  ///< fitted to measurements
  kLinks,     ///< the least: links at their full rate, without what senders take
  kPriors,    ///< hosts take of messages what those of other machines took, within a factor of about two
  kAssumed,   ///< by figures that nobody measured, which may err either way
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

/// Why the step time of `other` says nothing against that of `now`, a sentence without a full stop;
/// empty if the two can be compared. Times of the same movers can: what is wrong with them is wrong
/// with both. Otherwise what comes in has to be measured, and what goes out must not be assumed.
std::string why_not_comparable(const Travel& now, const Travel& other);

}  // namespace tutti::core
