#pragma once

#include <cstdint>

#include "core/base/state_visitor.h"
#include "core/base/units.h"
#include "sim/engine/causal_chain.h"
#include "sim/engine/event_order.h"

namespace tutti::sim {

using core::StateVisitor;

/// Visits the order key of an event or a message (event_order.h).
inline void visit_order(std::uint64_t& order, StateVisitor& visitor) {
  const std::uint64_t lane = lane_of_order(order);
  std::uint64_t sent = order & ((1U << kSentBits) - 1);
  visitor.same(static_cast<std::int64_t>(lane));
  visitor.numbered(sent, kSentBits);
  order = lane << kSentBits | sent;
}

inline void visit_causal_chain(CausalChain& causal_chain, StateVisitor& visitor) {
  core::Breakdown& parts = causal_chain.parts;
  for (core::Time* const time :
       {&parts.launch, &parts.latency, &parts.queue, &parts.reduce, &parts.copy, &parts.host})
    visitor.counted(*time);
  for (core::Time& time : parts.wire) visitor.counted(time);
  visitor.recorded(causal_chain.origin);
  visitor.recorded(causal_chain.slowest);
  visitor.recorded(causal_chain.slowest_time.count());
  visitor.recorded(causal_chain.queued_at);
  visitor.recorded(causal_chain.queued_time.count());
}

}  // namespace tutti::sim
