#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/edit/overrides.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// The lines of a training script, a configuration file or a shell command that make a framework
/// use a scenario's strategy. Sizes are in the framework's own unit (bytes, MiB or elements).
struct Snippet {
  enum class Language { kPython, kJson, kShell, kNcclTuner };
  std::string framework;  ///< name, for example "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// True if the strategy was simulated with this framework's own packing rule. If false, the
  /// framework may not support the simulated packing exactly, and the snippet sets the most similar
  /// packing that the framework supports.
  bool as_simulated = false;
  std::string remark;  ///< a note about the snippet, in one sentence; may be empty
  /// Overrides of the scenario with which Tutti simulates the program that the snippet configures,
  /// with the framework's own packing. If releases of the framework interpret the snippet
  /// differently, there is a list of overrides for each interpretation. An empty list means that
  /// the scenario itself is simulated.
  std::vector<std::vector<Override>> readings = {{}};
};
std::string_view to_string(Snippet::Language language);

/// The snippets for a recommended scenario, one for each framework that supports its strategy. The
/// snippet of the simulated framework comes first. Snippets for NCCL affect only the all-reduces of
/// gradients; for all other collectives, NCCL chooses by itself.
struct Snippets {
  std::vector<Snippet> list;
  std::vector<std::string> notes;  ///< one note for each framework without a snippet, with the
                                   ///< reason
};
Snippets snippets_of(const Scenario& recommended, const Library& library);

}  // namespace tutti::core
