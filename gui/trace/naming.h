#pragma once

#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// Returns the text in lower case (ASCII only).
std::string lower(std::string text);

/// The quality of a word's match with the name of a layer or a gradient ("layer1.0.conv1.weight",
/// "conv1_conv/kernel"), from the worst match to the best. A search returns only the names with the
/// best match, so "conv1" finds the first convolution, and not one in each block.
enum class Naming {
  kNot,
  kPart,   ///< the word occurs somewhere in the name, such as "conv"
  kPiece,  ///< the word is one or several consecutive pieces of the name, such as "0.conv1"
  kBegin,  ///< the word is the name, or its first pieces, such as "layer1" or "conv1"
};

/// Returns how well `word` matches `name`. REQUIRES: `word` is in lower case and not empty.
Naming naming(const std::string& name, const std::string& word);
/// Returns the best match of the word among a run's layers and gradients.
Naming best_naming(const core::RunInfo& run, const std::string& word);

/// The packs and layers of a run that a word refers to.
struct Concerned {
  std::vector<bool> packs;   ///< by pack: true if it carries a matching gradient
  std::vector<bool> layers;  ///< by layer: true if its backward pass computes one
};

/// Returns the packs and layers of all names that `word` matches at least as well as `at_least`. A
/// timeline does not record the layers of gradients, so a gradient's layer is found by its name:
/// for "fc.bias" it is the first of "fc.bias", "fc", "fc.weight" and the only layer below "fc" that
/// exists, if any. Cost: linear in the number of names.
Concerned concerned(const core::RunInfo& run, const std::string& word, Naming at_least);

}  // namespace tutti::gui
