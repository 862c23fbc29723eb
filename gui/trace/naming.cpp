#include "gui/trace/naming.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <string_view>

namespace tutti::gui {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

namespace {

bool is_between(char c) { return c == '.' || c == '/' || c == ':'; }

/// Returns the name without its last piece; empty if it has only one piece.
std::string_view parent(std::string_view name) {
  const auto cut = std::find_if(name.rbegin(), name.rend(), is_between);
  return name.substr(0, cut == name.rend() ? 0 : static_cast<std::size_t>(name.rend() - cut) - 1);
}

/// Finds the layer of a gradient by its name.
class Layers {
 public:
  explicit Layers(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      by_name_.emplace(names[i], i);
      if (!parent(names[i]).empty()) by_parent_.emplace(parent(names[i]), i);
      for (std::string_view above = parent(names[i]); !above.empty(); above = parent(above)) {
        const auto [there, first] = below_.emplace(above, i);
        if (!first) there->second = kSeveral;
      }
    }
  }

  /// Marks the layer to which a gradient belongs, if the gradient's name identifies a layer.
  void mark(std::string_view gradient, std::vector<bool>& layers) const {
    for (std::string_view name = gradient; !name.empty(); name = parent(name)) {
      if (const auto of = by_name_.find(name); of != by_name_.end())
        return void(layers[of->second] = true);
    }
    for (const auto* const near : {&by_parent_, &below_}) {
      const auto of = near->find(parent(gradient));
      if (of != near->end() && of->second != kSeveral) return void(layers[of->second] = true);
    }
  }

 private:
  static constexpr std::size_t kSeveral = static_cast<std::size_t>(-1);

  std::map<std::string_view, std::size_t> by_name_;
  /// By the name of a parent: the first layer below this parent.
  std::map<std::string_view, std::size_t> by_parent_;
  /// By a prefix of names: the only layer whose name begins with this prefix. Prefixes of several
  /// layers are omitted.
  std::map<std::string_view, std::size_t> below_;
};

}  // namespace

Naming naming(const std::string& name, const std::string& word) {
  const std::string small = lower(name);
  Naming best = Naming::kNot;
  for (std::size_t at = small.find(word); at != std::string::npos; at = small.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool whole =
        (at == 0 || is_between(small[at - 1])) && (end == small.size() || is_between(small[end]));
    best = std::max(best, !whole ? Naming::kPart : at > 0 ? Naming::kPiece : Naming::kBegin);
  }
  return best;
}

Naming best_naming(const core::RunInfo& run, const std::string& word) {
  Naming best = Naming::kNot;
  for (const std::string& layer : run.layers) best = std::max(best, naming(layer, word));
  for (const core::RunInfo::PackInfo& pack : run.packs) {
    for (const std::string& gradient : pack.gradients)
      best = std::max(best, naming(gradient, word));
  }
  return best;
}

Concerned concerned(const core::RunInfo& run, const std::string& word, Naming at_least) {
  const Layers layers(run.layers);
  Concerned found{std::vector<bool>(run.packs.size()), std::vector<bool>(run.layers.size())};
  for (std::size_t l = 0; l < run.layers.size(); ++l)
    found.layers[l] = naming(run.layers[l], word) >= at_least;
  for (std::size_t p = 0; p < run.packs.size(); ++p) {
    for (const std::string& gradient : run.packs[p].gradients) {
      if (naming(gradient, word) < at_least) continue;
      found.packs[p] = true;
      layers.mark(gradient, found.layers);
    }
  }
  return found;
}

}  // namespace tutti::gui
