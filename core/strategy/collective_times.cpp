#include "core/strategy/collective_times.h"

#include <utility>

namespace tutti::core {

void assign_time(const CollectiveTimes* times, Collective& collective) {
  if (times == nullptr) return;
  CollectiveTimes::Known known = times->of(collective);
  collective.nccl = std::move(known.whole);
  if (known.parts) collective.parts = std::move(known.parts);
}

}  // namespace tutti::core
