#pragma once

#include "core/scenario/conditions.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Conditions;
}

namespace tutti::core {

/// Reads the conditions that a scenario describes for `cluster`; errors are reported to `fields`.
Conditions conditions_from(const proto::Conditions& message, Fields& fields,
                           const Cluster& cluster);

}  // namespace tutti::core
