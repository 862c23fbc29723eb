#pragma once

#include <cstdint>
#include <string>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// The single collective of a scenario that measures one collective.
struct OneBuffer {
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;  ///< number of elements, as in Collective::elements
  std::int32_t steps = 1;     ///< number of executions
  Reduction reduction = Reduction::kSum;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;  ///< root, for collectives with a root
  bool out_of_place = false;
};

/// Returns the text of a scenario with the same cluster and algorithm as `text`. The new scenario
/// has no computation, no packing and a single gradient, which the collective `one` communicates.
/// REQUIRES: `text` is a valid scenario; `path` is its file.
std::string with_one_buffer(const std::string& text, const std::string& path, const OneBuffer& one);

/// Returns the text of a scenario that executes a trace on the cluster of `text` with the algorithm
/// of `strategy`. Paths of files that the cluster names become absolute.
/// REQUIRES: as for with_one_buffer(); `strategy` is the strategy of `text`.
std::string with_trace(const std::string& text, const std::string& path, const Strategy& strategy,
                       const std::string& trace, const std::string& groups);

/// Removes line numbers from the errors of a text that with_one_buffer() or with_trace() made,
/// because the user has no file with this text.
Error without_lines(const Error& error);

}  // namespace tutti::core
