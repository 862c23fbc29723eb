#pragma once

#include <optional>
#include <string>

#include "core/strategy/all_reduce_spec.h"
#include "core/text/fields.h"
#include "core/text/places.h"

namespace tutti::proto {
class AllReduceSpec;
}

namespace tutti::core {

/// Reads the spec that is written at `path` ("strategy.tensorflow.multi_worker_all_reduce.all_reduce_spec"). Nothing, and problems, if
/// something is wrong with it.
std::optional<AllReduceSpec> all_reduce_spec_from(const proto::AllReduceSpec& message, const std::string& path,
                                                  Fields& fields, Complaints& complaints);

/// Complains about an entry at its place in the scenario. `text`: of a spec that was written as one.
void complain_about(const SpecProblem& problem, const AllReduceSpec& spec, const std::string& text,
                    const std::string& path, Complaints& complaints);

}  // namespace tutti::core
