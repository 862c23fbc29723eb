#pragma once

#include <optional>

#include "core/strategy/all_reduce_spec.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// The spec of a strategy that has one. Mistakes, also of fields of the strategy that do nothing beside a spec, go to
/// the fields' problems; then nothing.
std::optional<AllReduceSpec> all_reduce_spec_from(const proto::Strategy& strategy, Fields& fields);

/// Complains about an entry at its place in the scenario.
void complain_about(const SpecProblem& problem, const AllReduceSpec& spec, const proto::Strategy& strategy,
                    Fields& fields);

}  // namespace tutti::core
