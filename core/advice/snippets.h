#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/edit/overrides.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// Lines for a training script, a configuration or a shell that make a framework implement a
/// scenario's strategy, in the framework's own unit (bytes, MiB, elements).
struct Snippet {
  enum class Language { kPython, kJson, kShell, kNcclTuner };
  std::string framework;  ///< name, for example "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// True if the simulated rule is this framework's own; false if the snippet is the nearest that
  /// the framework offers.
  bool as_simulated = false;
  std::string remark;  ///< a note about the snippet, in one sentence; or ""
  /// The changes of the scenario with which to simulate the snippet's effect: they select this
  /// framework's own packing. Several lists if releases interpret the snippet differently. No
  /// changes: the scenario itself.
  std::vector<std::vector<Override>> readings = {{}};
};
std::string_view to_string(Snippet::Language language);

/// Snippets for `recommended`, for the frameworks that support such a strategy, beginning with the
/// simulated one. For collectives other than the gradients' all-reduces, NCCL is set to its own
/// choice.
struct Snippets {
  std::vector<Snippet> list;
  std::vector<std::string> notes;  ///< missing frameworks, with reasons
};
Snippets snippets_of(const Scenario& recommended, const Library& library);

}  // namespace tutti::core
