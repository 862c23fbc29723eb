#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

/// The settings with which a framework's program uses a strategy: lines of a training script, a
/// shell command or a configuration file, in the framework's units.
struct ProgramSetting {
  enum class Language { kPython, kJson, kShell };
  std::string framework;  ///< name: "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// True if the strategy was simulated with the framework's own packing rule. False if the
  /// framework can only approximate the simulated packs.
  bool as_simulated = false;
  std::string remark;  ///< one sentence about the setting; may be empty
  /// Overrides of the scenario, such as "strategy.num_packs=2". The scenario with these overrides
  /// describes the program that uses this setting. An override with an empty value removes its
  /// field. `readings` has one list for each interpretation, if releases of the framework interpret
  /// the setting differently. An empty list leaves the scenario unchanged.
  std::vector<std::vector<std::string>> readings = {{}};
};

/// A strategy and a workload, and the plan that was made from them.
struct Planned {
  const Workload& workload;
  const Strategy& strategy;
  const Plan& plan;
};

/// Returns the strategy's pack size in bytes (bytes_per_pack); nullopt if this field is not set. If
/// the field is 0 (one pack), returns the total size of all gradients.
std::optional<std::int64_t> pack_bytes(const Planned& planned);
/// Returns the pack size to which a framework's own packing should come close. The result is
/// pack_bytes() if the strategy names no framework, and otherwise nullopt.
std::optional<std::int64_t> bytes_to_come_near(const Planned& planned);
/// Returns the bytes per element, for frameworks whose settings count elements. If the plan has
/// several data types, returns the size of the type with the most bytes.
std::int64_t element_bytes(const Planned& planned);

/// Returns the setting, marked as an approximation. Frameworks that close packs by their own rule
/// use this function, because their packs can only approximate the packs of the strategy. `fields`
/// are the overrides that select the framework's rule, for example
/// "horovod.fusion_threshold=1048576".
ProgramSetting near_setting(ProgramSetting setting, const std::vector<std::string>& fields);
/// Returns overrides that remove the strategy's fields for packing, launches, updates and shards,
/// and then set `fields`, whose paths begin inside `strategy`.
std::vector<std::string> packed_by(const std::vector<std::string>& fields);
/// The remark that near_setting() adds to the setting.
extern const char* const kOtherPackingRule;

/// Returns a size in MiB with as many digits as are needed to be exact, such as "25" or "0.5".
std::string in_mebibytes(std::int64_t bytes);

}  // namespace tutti::core
