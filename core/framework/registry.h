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

/// The input of a framework's reader: the strategy of a scenario and the framework's message.
struct StrategyText {
  const proto::Strategy& message;
  /// The framework's own message, for frameworks that register a schema (FrameworkKind::schema);
  /// otherwise null.
  const google::protobuf::Message* own = nullptr;
  Fields& fields;
  Complaints& complaints;
};

/// A framework's entry in the registry: its name, and the functions that read its options and write
/// settings for its programs.
struct FrameworkKind {
  std::string name;  ///< name of the framework's field in the message Strategy
  /// Reads the framework's options, and reports contradictions. Returns null and reports problems
  /// if the options are invalid.
  std::shared_ptr<const Framework> (*read)(const StrategyText& text) = nullptr;
  /// Returns the settings that make the framework's programs use a strategy, or approximate it;
  /// empty if there are none. A null pointer means that Tutti cannot write settings for this
  /// framework.
  std::vector<ProgramSetting> (*settings)(const Planned& planned) = nullptr;
  /// The paths of the framework's fields that affect only the packing and fusion of gradients:
  /// "strategy.horovod.fusion_threshold".
  std::vector<std::string> packing_fields;
  /// Returns the message type of the framework's options, for frameworks whose field `name` is not
  /// in the message Strategy. Null: the field is in the message Strategy.
  const google::protobuf::Message& (*schema)() = nullptr;
  /// The library that sends messages between hosts over TCP, except for NCCL's messages.
  HostLibrary host_library = HostLibrary::kSockets;
};

/// Returns all frameworks, in the order in which snippets list them.
const std::vector<FrameworkKind>& framework_kinds();
/// Adds a framework to the registry, for programs with their own frameworks. Must not run while
/// another thread reads a scenario. REQUIRES: no framework has the same name.
void register_framework(FrameworkKind kind);

/// Returns the message types of the frameworks that register a schema, for bind().
GuestMessages framework_messages();

/// The framework that a strategy names.
struct ReadFramework {
  bool said = false;
  std::shared_ptr<const Framework> framework;  ///< null if no framework is named, several
                                               ///< frameworks are named, or the options are invalid
};
/// Reads the framework of a strategy. ERRORS (complaints): two frameworks are named;
/// all_reduce_merge_scope is set, although frameworks do not use it; the framework's reader found a
/// problem.
ReadFramework read_framework(const proto::Strategy& message, const GuestMessages& guests,
                             Fields& fields, Complaints& complaints);

/// Reports a problem if the strategy sets `merging`. Used by frameworks whose buckets determine how
/// gradients are merged.
void refuse_merging(const StrategyText& text, std::string_view name);

}  // namespace tutti::core
