#pragma once

#include <cstdint>
#include <string>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// The only collective in a scenario that measures a single collective.
struct OneBuffer {
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;  ///< number of elements, in the sense of Collective::elements
  std::int32_t steps = 1;     ///< number of executions
  Reduction reduction = Reduction::kSum;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;  ///< rank of the root, for collectives that have one
  bool out_of_place = false;
};

/// Returns the text of a scenario that measures one collective on the cluster and with the
/// algorithm of `text`. The new scenario has no computation, packing, communicators or conditions.
/// The collective `one` communicates the only gradient of the new scenario.
/// REQUIRES: `text` is a valid scenario; `path` is its file.
std::string with_one_buffer(const std::string& text, const std::string& path, const OneBuffer& one);

/// Returns the text of a scenario that executes a trace. The cluster is that of `text`; the
/// algorithm and its settings (shards, channels, staging, …) are those of `strategy`. Paths in the
/// description of the cluster become absolute.
/// REQUIRES: the same as with_one_buffer(); `strategy` is the strategy of `text`.
std::string with_trace(const std::string& text, const std::string& path, const Strategy& strategy,
                       const std::string& trace, const std::string& groups);

/// Removes line numbers from errors in generated texts (of with_one_buffer() and with_trace()),
/// because users do not see these texts.
Error without_lines(const Error& error);

}  // namespace tutti::core
