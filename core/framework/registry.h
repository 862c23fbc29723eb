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

/// The input of a framework's reader: the strategy in the scenario, and the message with the
/// framework's options.
struct StrategyText {
  const proto::Strategy& message;
  /// The message with the framework's options, if the framework registers a schema
  /// (FrameworkKind::schema); otherwise null.
  const google::protobuf::Message* own = nullptr;
  Fields& fields;
  Complaints& complaints;
};

/// A framework in the registry: its name, and the functions that read its options and write
/// settings for its programs.
struct FrameworkKind {
  std::string name;  ///< name of the framework's field in a scenario's strategy
  /// Reads the framework's options, and reports options that contradict each other. If the options
  /// are invalid, reports problems and returns null.
  std::shared_ptr<const Framework> (*read)(const StrategyText& text) = nullptr;
  /// Returns the settings with which programs of the framework use or approximate a strategy; empty
  /// if there are none. If the pointer is null, Tutti cannot write settings for this framework.
  std::vector<ProgramSetting> (*settings)(const Planned& planned) = nullptr;
  /// The paths of the framework's fields that affect only the packing and fusion of gradients, such
  /// as "strategy.horovod.fusion_threshold".
  std::vector<std::string> packing_fields;
  /// Returns the message type of the framework's options. The pointer is null if the framework's
  /// field is part of the message Strategy.
  const google::protobuf::Message& (*schema)() = nullptr;
  /// The library that sends the framework's messages between hosts over TCP. (Messages of NCCL's
  /// collectives are sent by NCCL itself.)
  HostLibrary host_library = HostLibrary::kSockets;
};

/// Returns all frameworks, in the order in which reports list their settings.
const std::vector<FrameworkKind>& framework_kinds();
/// Adds a framework to the registry, so that a program can define its own frameworks. REQUIRES: no
/// other thread reads a scenario at the same time; no other framework has this name.
void register_framework(FrameworkKind kind);

/// Returns the message types of all frameworks that register a schema. The result is an argument of
/// bind().
GuestMessages framework_messages();

/// The framework that a strategy uses.
struct ReadFramework {
  bool given = false;
  std::shared_ptr<const Framework> framework;  ///< null if the strategy names no framework or
                                               ///< several frameworks, or if the options are
                                               ///< invalid
};
/// Reads the framework that a strategy uses. ERRORS (complaints): the strategy names two
/// frameworks; all_reduce_merge_scope is above 1, which has no effect with a framework; the
/// framework's reader reported a problem.
ReadFramework read_framework(const proto::Strategy& message, const GuestMessages& guests,
                             Fields& fields, Complaints& complaints);

/// Reports a problem if the strategy sets `merging`. Called by frameworks in which the buckets
/// determine which gradients are merged.
void refuse_merging(const StrategyText& text, std::string_view name);

}  // namespace tutti::core
