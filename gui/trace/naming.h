#pragma once

#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// Returns the text in lower case (ASCII only).
std::string lower(std::string text);

/// The quality of a word's match with the name of a layer or a gradient ("layer1.0.conv1.weight",
/// "conv1_conv/kernel"), from the worst match to the best. A search returns only the names that
/// match best, so "conv1" finds the first convolution and not one in each block.
enum class Naming {
  kNot,
  kPart,   ///< the word occurs anywhere in the name, such as "conv"
  kPiece,  ///< the word is one or several consecutive pieces of the name, such as "0.conv1"
  kBegin,  ///< the word is the name, or its first pieces, such as "layer1" or "conv1"
};

/// Returns how well `word` matches `name`. REQUIRES: `word` is in lower case and not empty.
Naming naming(const std::string& name, const std::string& word);
/// Returns the best match among a run's layers and gradients.
Naming best_naming(const core::RunInfo& run, const std::string& word);

/// The packs and layers of a run that a word names.
struct Concerned {
  std::vector<bool> packs;   ///< packs that carry the gradients
  std::vector<bool> layers;  ///< layers whose backward pass computes them
};

/// Returns the packs and layers for the names that `word` matches at least as well as `at_least`. A
/// timeline records only names of layers and gradients, so a gradient's layer is found by name: for
/// "fc.bias" it is "fc.bias", "fc", "fc.weight", or the only layer below "fc", in this order; none
/// if there is no such layer. Cost: linear in the names.
Concerned concerned(const core::RunInfo& run, const std::string& word, Naming at_least);

}  // namespace tutti::gui
