#pragma once

#include <cstdint>
#include <string>

#include "core/schedule/step.h"

namespace tutti::core {

/// The number and arrangement of the ranks on which an algorithm from a file runs.
struct AlgorithmShape {
  std::int32_t ranks = 1;
  std::int32_t per_node = 1;  ///< ranks per node; divides `ranks`
  Rank root = 0;

  bool operator==(const AlgorithmShape&) const = default;
};

/// A value that replaces the default of one of the algorithm's parameters.
struct AlgorithmParameter {
  std::string name;
  std::int64_t value = 0;

  bool operator==(const AlgorithmParameter&) const = default;
};

}  // namespace tutti::core
