#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// What to write into a training script, a configuration or a shell, so that a framework does what a scenario's strategy says. Every
/// framework counts in a unit of its own (bytes, MiB, elements); snippets are in theirs.
struct Snippet {
  enum class Language { kPython, kJson, kShell, kNcclTuner };
  std::string framework;  ///< "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// What was simulated is this framework's own rule. Otherwise it is the nearest that it has.
  bool as_simulated = false;
  std::string remark;  ///< what to know about it, a sentence; or ""
};
std::string_view to_string(Snippet::Language language);

/// Those of the frameworks that have such a strategy, the one that was simulated first.
std::vector<Snippet> snippets_of(const Scenario& scenario);

/// MiB in which `bytes` can be said exactly, or nearly so: "25", "0.5", "12.3456".
std::string in_mebibytes(std::int64_t bytes);

}  // namespace tutti::core
