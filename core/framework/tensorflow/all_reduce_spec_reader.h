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

/// Reads the spec at `path` ("strategy.tensorflow.multi_worker_all_reduce.all_reduce_spec").
/// If the spec is invalid, reports problems and returns nullopt.
std::optional<AllReduceSpec> all_reduce_spec_from(const proto::AllReduceSpec& message,
                                                  const std::string& path, Fields& fields,
                                                  Complaints& complaints);

/// Reports a problem of a spec's entry at the location of this entry in the scenario. `text` is the
/// whole spec if the user wrote it as a string, and otherwise empty.
void complain_about(const SpecProblem& problem, const AllReduceSpec& spec, const std::string& text,
                    const std::string& path, Complaints& complaints);

}  // namespace tutti::core
