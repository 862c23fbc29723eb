#pragma once

#include <optional>

#include "core/strategy/strategy.h"
#include "core/text/fields.h"
#include "core/text/places.h"

namespace tutti::proto {
class Scenario;
}

namespace tutti::core {

/// Reads the strategy of a scenario. Sets all defaults that do not depend on the cluster or the
/// gradients. Adds problems to `fields`. Returns nullopt if the reduction of gradients is unknown,
/// or a field has the wrong type. `guests` has the fields of frameworks that register a schema.
std::optional<Strategy> strategy_from(const proto::Scenario& scenario, const GuestMessages& guests,
                                      Fields& fields, Complaints& complaints);

}  // namespace tutti::core
