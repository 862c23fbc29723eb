#pragma once

#include <optional>
#include <string>

#include "core/strategy/all_reduce_spec.h"
#include "core/text/fields.h"
#include "core/text/places.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// The spec of a strategy that has one. Mistakes, also of fields of the strategy that do nothing beside a spec, go to
/// the fields' problems; then nothing.
std::optional<AllReduceSpec> all_reduce_spec_from(const proto::Strategy& strategy, Fields& fields,
                                                  Complaints& complaints);

/// Complains about an entry at its place in the scenario. `text`: of a spec that was written as one.
void complain_about(const SpecProblem& problem, const AllReduceSpec& spec, const std::string& text,
                    Complaints& complaints);

}  // namespace tutti::core
