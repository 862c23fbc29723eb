#pragma once

#include <optional>

#include "core/strategy/strategy.h"
#include "core/text/fields.h"
#include "core/text/places.h"

namespace tutti::proto {
class Scenario;
}

namespace tutti::core {

/// Reads the message `strategy` of a scenario. Also sets all defaults that depend neither on the
/// cluster nor on the gradients. Adds problems to `fields`. Returns nullopt if it cannot be
/// determined how gradients are reduced, or if a field has the wrong type. `guests` has the
/// messages of frameworks that register a schema.
std::optional<Strategy> strategy_from(const proto::Scenario& scenario, const GuestMessages& guests,
                                      Fields& fields, Complaints& complaints);

}  // namespace tutti::core
