#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/framework.h"

namespace tutti::core {

/// Settings that make a framework's program use a strategy: lines of a training script, a shell or
/// a configuration file, in the framework's own units.
struct ProgramSetting {
  enum class Language { kPython, kJson, kShell };
  std::string framework;  ///< name: "PyTorch DDP"
  Language language = Language::kPython;
  std::string text;
  /// True if the simulation used this framework's own packing rule; false if the setting is only
  /// the closest approximation that the framework offers.
  bool as_simulated = false;
  std::string remark;  ///< a note about the setting, in one sentence; may be empty
  /// The overrides of the scenario, such as "strategy.num_packs=2", with which the scenario's
  /// strategy behaves like the program. An override with an empty value removes the field.
  /// `readings` has several lists if releases of the framework interpret the setting differently.
  /// An empty list means that the strategy is not changed.
  std::vector<std::vector<std::string>> readings = {{}};
};

/// A strategy, its workload and its plan.
struct Planned {
  const Workload& workload;
  const Strategy& strategy;
  const Plan& plan;
};

/// Returns the pack size in bytes that the strategy's field bytes_per_pack sets; nullopt if the
/// field is not set. For the value 0 (one pack), returns the size of all gradients.
std::optional<std::int64_t> pack_bytes(const Planned& planned);
/// Returns the pack size that a framework with its own packing rule should approximate:
/// pack_bytes() if the strategy names no framework, otherwise nullopt.
std::optional<std::int64_t> bytes_to_come_near(const Planned& planned);
/// Returns the size in bytes of an element, for frameworks that count elements. The type of the
/// element is that of most of the plan's bytes.
std::int64_t element_bytes(const Planned& planned);

/// Marks a setting as an approximation and returns it. Frameworks that close packs by their own
/// rule use this function, because their packs only approximate the strategy's packs. `fields` are
/// the overrides of the strategy that select the framework's rule, for example
/// "horovod.fusion_threshold=1048576".
ProgramSetting near_setting(ProgramSetting setting, const std::vector<std::string>& fields);
/// Returns the overrides that remove all packing fields of a strategy and then set `fields`.
std::vector<std::string> packed_by(const std::vector<std::string>& fields);
/// The remark that near_setting() adds.
extern const char* const kOtherPackingRule;

/// Formats `bytes` as a number of MiB, with as many digits as are needed to be exact: "25", "0.5".
std::string in_mebibytes(std::int64_t bytes);

}  // namespace tutti::core
