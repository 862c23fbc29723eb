#pragma once

#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// In small letters (of ASCII).
std::string lower(std::string text);

/// How well a word matches the name of a layer or a gradient ("layer1.0.conv1.weight",
/// "conv1_conv/kernel"), from the worst match to the best. A search returns only the names that
/// match best, so "conv1" finds the first convolution and not one in each block.
enum class Naming {
  kNot,
  kPart,   ///< it is somewhere in the name: "conv"
  kPiece,  ///< it is one of the name's pieces, or some that follow each other: "0.conv1"
  kBegin,  ///< the name begins with it as a piece, or is it: "layer1", "conv1"
};

/// REQUIRES: `word` is in small letters and not empty.
Naming naming(const std::string& name, const std::string& word);
/// The best of a run's layers and gradients.
Naming best_naming(const core::RunInfo& run, const std::string& word);

/// What a run has to do with some of its layers.
struct Concerned {
  std::vector<bool> packs;   ///< those that carry their gradients
  std::vector<bool> layers;  ///< whose backward pass makes them
};

/// Of the layers and gradients that the word names at least so well. A gradient's layer is the one of its name ("fc.bias":
/// "fc.bias", "fc", "fc.weight", or the only one below "fc", in this order), for what a timeline knows of both is their names;
/// none where these do not tell. Cost: linear in the names.
Concerned concerned(const core::RunInfo& run, const std::string& word, Naming at_least);

}  // namespace tutti::gui
