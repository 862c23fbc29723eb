#pragma once

#include "core/scenario/conditions.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Conditions;
}

namespace tutti::core {

/// The conditions that a scenario describes for `cluster`; what makes no sense is reported to
/// `fields`.
Conditions conditions_from(const proto::Conditions& message, Fields& fields,
                           const Cluster& cluster);

}  // namespace tutti::core
