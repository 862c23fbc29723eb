#pragma once

#include <cstdint>
#include <string>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// One collective by itself.
struct OneBuffer {
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;  ///< of the whole: Collective::elements
  std::int32_t steps = 1;     ///< how often
  Reduction reduction = Reduction::kSum;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;  ///< of a kind that has one
  bool out_of_place = false;
};

/// The text of a scenario on the same cluster and with the same algorithm, but with a single
/// gradient that this is done with, nothing to compute, and no packing. REQUIRES: `text` is a
/// scenario without problems; `path` is its file.
std::string with_one_buffer(const std::string& text, const std::string& path, const OneBuffer& one);

/// The text of a scenario on the same cluster, by the algorithm of `strategy`, that executes a
/// trace. Paths of files that the cluster names become absolute. REQUIRES: as with_one_buffer();
/// `strategy` is the scenario's.
std::string with_trace(const std::string& text, const std::string& path, const Strategy& strategy,
                       const std::string& trace, const std::string& groups);

/// What is wrong with such a text as a user can be told of it: its lines are of no file.
Error without_lines(const Error& error);

}  // namespace tutti::core
