#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/program_setting.h"
#include "core/lowering/framework.h"
#include "core/text/bind.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// The strategy of a scenario, as input for the reader of a framework.
struct StrategyText {
  const proto::Strategy& message;
  /// The framework's own message, if its kind has a schema of its own (FrameworkKind::schema); else
  /// null.
  const google::protobuf::Message* own = nullptr;
  Fields& fields;
  Complaints& complaints;
};

/// A framework's entry in the registry: functions that read its options and write settings for its
/// programs.
struct FrameworkKind {
  std::string name;  ///< name of the framework's field in the strategy
  /// Reads its options, and reports contradictions. Returns null (with complaints) if they cannot
  /// be read.
  std::shared_ptr<const Framework> (*read)(const StrategyText& text) = nullptr;
  /// Returns the settings with which its programs implement a strategy, or approximate it; empty if
  /// there are none. May be null: no such settings are known.
  std::vector<ProgramSetting> (*settings)(const Planned& planned) = nullptr;
  /// The fields of a scenario that only affect how gradients are packed and fused:
  /// "strategy.horovod.fusion_threshold".
  std::vector<std::string> packing_fields;
  /// The message of its own schema, for the field `name` that the schema of strategies does not
  /// have. Null: it has the field.
  const google::protobuf::Message& (*schema)() = nullptr;
  /// The library for messages between hosts on TCP networks, except for NCCL's.
  HostLibrary host_library = HostLibrary::kSockets;
};

/// Returns all kinds, in the order in which snippets list them.
const std::vector<FrameworkKind>& framework_kinds();
/// Adds a framework; for programs with their own. Not thread-safe with reading scenarios. REQUIRES:
/// the name is new.
void register_framework(FrameworkKind kind);

/// Returns the option messages of the frameworks with their own schema, for bind().
GuestMessages framework_messages();

/// The framework of a strategy.
struct ReadFramework {
  bool said = false;
  std::shared_ptr<const Framework>
      framework;  ///< null despite `said`: several are named, or the options are invalid
};
/// Reads the framework of a strategy. ERRORS (complaints): a framework with its own schema together
/// with another one or with a packing field; merge scopes, which no framework takes from the
/// strategy; and problems found by the framework's reader.
ReadFramework read_framework(const proto::Strategy& message, const GuestMessages& guests,
                             Fields& fields, Complaints& complaints);

/// Complains about `merging`; for frameworks whose buckets determine how gradients are merged.
void refuse_merging(const StrategyText& text, std::string_view name);

}  // namespace tutti::core
