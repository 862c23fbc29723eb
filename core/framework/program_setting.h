#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

/// How a program of a framework is told what a strategy does: lines of a script, of a shell or of a configuration, in the framework's own
/// units.
struct ProgramSetting {
  enum class Language { kPython, kJson, kShell };
  std::string framework;  ///< "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// What was simulated is this framework's own rule. Otherwise it is the nearest that it has.
  bool as_simulated = false;
  std::string remark;  ///< what to know about it, a sentence; or ""
  /// Fields of a scenario, "strategy.num_packs=2" each (a value of nothing takes the field out), that make of the strategy one that does
  /// what the program does. Several lists where releases read the setting differently. An empty list: it is this strategy.
  std::vector<std::vector<std::string>> readings = {{}};
};

/// A strategy that was planned.
struct Planned {
  const Workload& workload;
  const Strategy& strategy;
  const Plan& plan;
};

/// How much a strategy puts into a pack by its own field bytes_per_pack. One pack of everything: all gradients.
std::optional<std::int64_t> pack_bytes(const Planned& planned);
/// The same where a framework that packs by a rule of its own could come near it: no framework was chosen.
std::optional<std::int64_t> bytes_to_come_near(const Planned& planned);
/// Elements of the type that most bytes travel in, for frameworks that count those.
std::int64_t element_bytes(const Planned& planned);

/// Marks a setting as an approximation, since the framework closes packs by a rule of its own.
/// Overriding `fields` of the strategy, such as "horovod.fusion_threshold=1048576", makes the
/// scenario pack by that rule.
ProgramSetting near_setting(ProgramSetting setting, const std::vector<std::string>& fields);
/// Returns the overrides that replace a strategy's own packing fields with `fields`.
std::vector<std::string> packed_by(const std::vector<std::string>& fields);
/// What `near_setting` says of the rule.
extern const char* const kOtherPackingRule;

/// MiB in which `bytes` can be said exactly, or nearly so: "25", "0.5", "12.3456".
std::string in_mebibytes(std::int64_t bytes);

}  // namespace tutti::core
