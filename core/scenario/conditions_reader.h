#pragma once

#include "core/scenario/conditions.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Conditions;
}

namespace tutti::core {

/// Reads the message `conditions` of a scenario. Adds problems to `fields`.
Conditions conditions_from(const proto::Conditions& message, Fields& fields,
                           const Cluster& cluster);

}  // namespace tutti::core
