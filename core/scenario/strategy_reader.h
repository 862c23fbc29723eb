#pragma once

#include <optional>

#include "core/strategy/strategy.h"
#include "core/text/fields.h"
#include "core/text/places.h"

namespace tutti::proto {
class Scenario;
}

namespace tutti::core {

/// The strategy of a scenario with its defaults, as far as they need neither cluster nor gradients.
/// Mistakes go to the fields' problems; nothing if it is not known how gradients are reduced, or if
/// a field did not fit its type. `guests`: what was written of frameworks that have schemas of
/// their own.
std::optional<Strategy> strategy_from(const proto::Scenario& scenario, const GuestMessages& guests,
                                      Fields& fields, Complaints& complaints);

}  // namespace tutti::core
