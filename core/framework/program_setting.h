#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

/// The settings of a framework's program that implement a strategy: lines of a script, shell or
/// configuration, in the framework's own units.
struct ProgramSetting {
  enum class Language { kPython, kJson, kShell };
  std::string framework;  ///< such as "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// True if the simulated rule is this framework's own; false if the setting is the nearest that
  /// the framework offers.
  bool as_simulated = false;
  std::string remark;  ///< a note about the setting, in one sentence; or ""
  /// Changes of the scenario, "strategy.num_packs=2" each (an empty value removes the field), that
  /// make the strategy behave like the program. Several lists if releases interpret the setting
  /// differently. An empty list: this strategy, unchanged.
  std::vector<std::vector<std::string>> readings = {{}};
};

/// A strategy with its plan.
struct Planned {
  const Workload& workload;
  const Strategy& strategy;
  const Plan& plan;
};

/// Returns the size of a pack by the strategy's own field bytes_per_pack; for one pack of
/// everything, that of all gradients.
std::optional<std::int64_t> pack_bytes(const Planned& planned);
/// Like pack_bytes(), if a framework with its own packing rule could approximate it: no framework
/// was chosen.
std::optional<std::int64_t> bytes_to_come_near(const Planned& planned);
/// Returns the size of an element of the type in which most bytes are sent, for frameworks that
/// count elements.
std::int64_t element_bytes(const Planned& planned);

/// Marks a setting as an approximation, since the framework closes packs by a rule of its own.
/// Overriding `fields` of the strategy, such as "horovod.fusion_threshold=1048576", makes the
/// scenario pack by that rule.
ProgramSetting near_setting(ProgramSetting setting, const std::vector<std::string>& fields);
/// Returns the overrides that replace a strategy's own packing fields with `fields`.
std::vector<std::string> packed_by(const std::vector<std::string>& fields);
/// The remark of `near_setting` on the rule.
extern const char* const kOtherPackingRule;

/// Formats `bytes` in MiB, exactly or nearly so: "25", "0.5", "12.3456".
std::string in_mebibytes(std::int64_t bytes);

}  // namespace tutti::core
