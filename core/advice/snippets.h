#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/edit/overrides.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// Lines for a training script, a configuration file or a shell that make a framework use a
/// scenario's strategy. Sizes are in the framework's own unit (bytes, MiB or elements).
struct Snippet {
  enum class Language { kPython, kJson, kShell, kNcclTuner };
  std::string framework;  ///< name, for example "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// True if the simulation used this framework's own packing rule; false if the snippet is the
  /// nearest setting that the framework offers.
  bool as_simulated = false;
  std::string remark;  ///< a note about the snippet, in one sentence; may be empty
  /// The overrides of the scenario with which Tutti simulates the snippet, using this framework's
  /// own packing. `readings` has several lists of overrides if releases of the framework interpret
  /// the snippet differently. An empty list of overrides means that the scenario itself is
  /// simulated.
  std::vector<std::vector<Override>> readings = {{}};
};
std::string_view to_string(Snippet::Language language);

/// The snippets for a recommended scenario, one for each framework that supports its strategy; the
/// simulated framework comes first. Snippets for NCCL change only the gradients' all-reduces and
/// leave all other collectives to NCCL's own choice.
struct Snippets {
  std::vector<Snippet> list;
  std::vector<std::string> notes;  ///< frameworks without a snippet, with the reasons
};
Snippets snippets_of(const Scenario& recommended, const Library& library);

}  // namespace tutti::core
