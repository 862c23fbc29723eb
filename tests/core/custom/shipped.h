#pragma once

// The algorithms of scenarios/algorithms, compiled for shapes that a test chooses.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/custom/custom_algorithm.h"
#include "core/schedule/stages.h"
#include "tests/support/clusters.h"

namespace tutti::test {

/// Returns the names of the shipped algorithms that are correct.
inline const std::vector<std::string>& shipped_algorithms() {
  static const std::vector<std::string> names{
      "ring",  "bidirectional_ring", "recursive_doubling", "rabenseifner",
      "bruck", "double_binary_tree", "torus_2d",           "hierarchical_overlap",
      "swing", "in_switch"};
  return names;
}

inline std::string text_of_algorithm(const std::string& name) {
  auto text =
      core::read_text_file(source_folder() + "/scenarios/algorithms/" + name + ".tutti-algorithm");
  EXPECT_TRUE(text) << name;
  return text ? *text : "";
}

/// Compiles the text of an algorithm for a shape. Returns null if it does not support the shape,
/// and then adds the reasons to `problems`.
inline std::shared_ptr<const core::CustomAlgorithm> algorithm_of(
    const std::string& text, core::AlgorithmShape shape, core::Problems& problems,
    const std::vector<core::AlgorithmParameter>& set = {}) {
  const auto read = core::read_algorithm(text, "a.tutti-algorithm", problems);
  return read ? read->for_shape(shape, set, problems) : nullptr;
}

/// Returns the algorithm's schedule with inputs in place, or out of place, which begins with a copy
/// of the inputs if the algorithm needs one.
inline std::shared_ptr<const core::Schedule> schedule_of(const core::CustomAlgorithm& algorithm,
                                                         const core::Contract& contract,
                                                         core::Engine engine) {
  const std::int64_t shift = contract.input_shift;
  if (shift == 0 || algorithm.reads_inputs() || algorithm.shape().ranks == 1)
    return algorithm.schedule(contract.elements, shift, engine);
  return core::in_stages(
      {algorithm.shape().ranks, 1, false}, contract.elements,
      {{core::StageScope::kEveryone, core::copy_inputs_of(contract, engine)},
       {core::StageScope::kEveryone, algorithm.schedule(contract.elements, 0, engine)}});
}

}  // namespace tutti::test
