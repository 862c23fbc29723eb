#pragma once

#include <optional>

#include "core/strategy/strategy.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Scenario;
class Strategy;
}  // namespace tutti::proto

namespace tutti::core {

/// The strategy of a scenario with its defaults, as far as they need neither cluster nor gradients. Mistakes go to the
/// fields' problems; nothing if it is not known how gradients are reduced, or if a field did not fit its type.
std::optional<Strategy> strategy_from(const proto::Scenario& scenario, Fields& fields);

/// Merging and launches, where the scenario says them in place of what usually goes with its way of reducing. Once more
/// when it is known which that is: what is asked for counts.
void take_what_is_asked(const proto::Strategy& message, Strategy& strategy);

}  // namespace tutti::core
