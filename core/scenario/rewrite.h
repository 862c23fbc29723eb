#pragma once

#include <cstdint>
#include <string>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// A single collective to measure.
struct OneBuffer {
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;  ///< size of the whole collective, as in Collective::elements
  std::int32_t steps = 1;     ///< number of executions
  Reduction reduction = Reduction::kSum;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;  ///< root, for collectives that have one
  bool out_of_place = false;
};

/// Returns the text of a scenario with the same cluster and algorithm, but with a single gradient
/// for this collective, without computation and without packing. REQUIRES: `text` is a valid
/// scenario; `path` is its file.
std::string with_one_buffer(const std::string& text, const std::string& path, const OneBuffer& one);

/// Returns the text of a scenario on the same cluster, with the algorithm of `strategy`, that
/// executes a trace. Paths of files that the cluster names become absolute. REQUIRES: as
/// with_one_buffer(); `strategy` is the scenario's.
std::string with_trace(const std::string& text, const std::string& path, const Strategy& strategy,
                       const std::string& trace, const std::string& groups);

/// Returns the errors of such a text in a form for users, without its line numbers, because it is
/// not in a file.
Error without_lines(const Error& error);

}  // namespace tutti::core
