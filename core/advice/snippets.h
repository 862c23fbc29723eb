#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/edit/overrides.h"
#include "core/scenario/library.h"
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
  /// What to simulate to know what the snippet does: changes of the scenario that it was made of,
  /// by which that becomes this framework's own packing. Several where releases read the snippet
  /// differently. No changes: it is that scenario.
  std::vector<std::vector<Override>> readings = {{}};
};
std::string_view to_string(Snippet::Language language);

/// Snippets for `recommended`, of the frameworks that have such a strategy, the one that was
/// simulated first. What NCCL is told of collectives other than the gradients' all-reduces is what
/// it chooses by itself.
struct Snippets {
  std::vector<Snippet> list;
  std::vector<std::string> notes;  ///< which are missing, and why
};
Snippets snippets_of(const Scenario& recommended, const Library& library);

}  // namespace tutti::core
