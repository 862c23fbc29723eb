#pragma once

#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// Returns the text in lower case (ASCII only).
std::string lower(std::string text);

/// The quality of the match of a word with the name of a layer or gradient
/// ("layer1.0.conv1.weight", "conv1_conv/kernel"), from worst to best. A search returns only the
/// names with the best match. For example, "conv1" finds only the first convolution, although
/// "layer1.0.conv1" also contains this word.
enum class Naming {
  kNot,
  kPart,   ///< the word occurs somewhere in the name, such as "conv"
  kPiece,  ///< the word is one or several consecutive pieces of the name, such as "0.conv1"
  kBegin,  ///< the word is the whole name, or its first pieces, such as "layer1" or "conv1"
};

/// Returns how well `word` matches `name`. REQUIRES: `word` is in lower case and not empty.
Naming naming(const std::string& name, const std::string& word);
/// Returns the best match of the word among a run's layers and gradients.
Naming best_naming(const core::RunInfo& run, const std::string& word);

/// The packs and layers of a run that a word refers to.
struct Concerned {
  std::vector<bool> packs;  ///< for each pack, true if the pack carries a matching gradient
  std::vector<bool>
      layers;  ///< for each layer, true if the layer's backward pass computes a matching gradient
};

/// Returns the packs and layers of all names whose match with `word` has at least the quality
/// `at_least`. A timeline does not record the layers of gradients, so a gradient's layer is found
/// by its name. The layer of "fc.bias" is "fc.bias" or, if there is no such layer, "fc". If neither
/// exists, it is the first layer directly below "fc", such as "fc.weight", or else the only layer
/// at any depth below "fc". Cost: linear in the number of names.
Concerned concerned(const core::RunInfo& run, const std::string& word, Naming at_least);

}  // namespace tutti::gui
