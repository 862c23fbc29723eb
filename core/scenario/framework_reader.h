#pragma once

#include <optional>

#include "core/strategy/framework.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// How another framework packs, if the strategy says so. Mistakes, and packing that is said in TensorFlow's words besides, go to
/// the fields' problems.
std::optional<Framework> framework_from(const proto::Strategy& strategy, Fields& fields);

}  // namespace tutti::core
