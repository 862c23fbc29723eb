#pragma once

// A forest as a text of Tutti's language for algorithms (docs/your-own-algorithm.md).
//
// Every tree carries its own chunks, and every chunk travels in pieces, so that a rank passes the
// first piece on while the second arrives. A tree has as many lanes as its busiest rank has
// children: a link to the j-th child is on lane j at both ends. The lane on which a rank receives
// also leads to its first child, so that this piece goes on without a wait; the lanes of its other
// children wait for it.
//
// A reduction runs the same trees backwards. A rank adds up what its children send, one after the
// other, and the last sum goes on to its parent. An all-reduce does both: each root sends a sum
// down its tree once it has it.

#include <string>
#include <vector>

#include "core/schedule/contract.h"
#include "core/synthesis/forest.h"

namespace tutti::core::synthesis {

struct TextOptions {
  std::string name = "synthesized";
  std::vector<std::string> remarks;  ///< comment lines at the beginning of the file
  std::int64_t pieces = 1;           ///< the default of the file's parameter `pieces`
};

/// REQUIRES: kind is all-gather, reduce-scatter, all-reduce (each rank contributes one part),
/// broadcast or reduce (only `root` contributes).
std::string text_of(const Forest& forest, CollectiveKind kind, const TextOptions& options);

}  // namespace tutti::core::synthesis
