#pragma once

// Writes a forest as a text in Tutti's language for algorithms (docs/your-own-algorithm.md).
//
// Every tree carries its own chunks. Chunks are sent in pieces, so that a rank forwards one piece
// while it receives the next. The number of lanes of a tree is the maximum number of children of a
// rank. The edge to the j-th child is on lane j at both ends. The lane on which a rank receives
// also sends to the rank's first child, so this lane forwards a piece without waiting for other
// lanes. The lanes to the other children wait for this lane.
//
// A reduction uses the same trees in the reverse direction. A rank adds the data of its children
// one after the other, and sends the sum to its parent. An all-reduce combines a reduction and a
// distribution: each root sends a sum down its tree once the sum is complete.

#include <string>
#include <vector>

#include "core/schedule/contract.h"
#include "core/synthesis/forest.h"

namespace tutti::core::synthesis {

struct TextOptions {
  std::string name = "synthesized";
  std::vector<std::string> remarks;  ///< comment lines at the beginning of the file
  std::int64_t pieces = 1;           ///< default of the algorithm's parameter `pieces`
};

/// Returns the forest as a text in Tutti's language.
/// REQUIRES: `kind` is all-gather, reduce-scatter or all-reduce, and each rank contributes one
/// part; or `kind` is broadcast or reduce, and only the root contributes.
std::string text_of(const Forest& forest, CollectiveKind kind, const TextOptions& options);

}  // namespace tutti::core::synthesis
