#pragma once

// Writes a forest as a text in Tutti's language for algorithms (docs/your-own-algorithm.md).
//
// Each tree distributes separate chunks of the data. Chunks are divided into pieces, so that a rank
// forwards one piece while it receives the next. A tree needs as many lanes as the rank with the
// most children has children. The receiver and the sender of a message use lanes with the same
// number. A rank sends to its first child on the lane on which it receives, so that it forwards a
// piece to this child without waiting for another lane. The messages to the other children are on
// other lanes, which wait for the lane that receives from the parent.
//
// A reduction uses the same trees in the reverse direction. A rank adds the data of its children
// one after the other, and sends the sum to its parent. An all-reduce is a reduction followed by a
// broadcast: each root sends a sum down its tree once the sum is complete.

#include <string>
#include <vector>

#include "core/schedule/contract.h"
#include "core/synthesis/forest.h"

namespace tutti::core::synthesis {

struct TextOptions {
  std::string name = "synthesized";
  std::vector<std::string> remarks;  ///< comment lines at the beginning of the text
  std::int64_t pieces = 1;           ///< default value of the algorithm's parameter `pieces`
};

/// Returns the forest as a text in Tutti's language.
/// REQUIRES: `kind` is all-gather, reduce-scatter or all-reduce, and each rank contributes one
/// part; or `kind` is broadcast or reduce, and only the root contributes.
std::string text_of(const Forest& forest, CollectiveKind kind, const TextOptions& options);

}  // namespace tutti::core::synthesis
