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

/// What a scenario's strategy says, as the reader of a framework finds it.
struct StrategyText {
  const proto::Strategy& message;
  /// The framework's own message, if its kind has a schema of its own (FrameworkKind::schema); else null.
  const google::protobuf::Message* own = nullptr;
  Fields& fields;
  Complaints& complaints;
};

/// A framework's line in the registry: how its options are read, and how its programs are told of them.
struct FrameworkKind {
  std::string name;  ///< of its field in the strategy
  /// Reads its options, and complains of what contradicts them. Null (and complaints): they cannot be made out.
  std::shared_ptr<const Framework> (*read)(const StrategyText& text) = nullptr;
  /// How its programs are told to do what a strategy does, or what comes near it; nothing if nothing does. May be null: no such text
  /// is known.
  std::vector<ProgramSetting> (*settings)(const Planned& planned) = nullptr;
  /// Fields of a scenario that decide how gradients are packed and fused, and nothing else: "strategy.horovod.fusion_threshold".
  std::vector<std::string> packing_fields;
  /// A message that the schema of strategies does not have: it stands in the field `name`. Null: the schema has the fields above.
  const google::protobuf::Message& (*schema)() = nullptr;
  /// The library that carries messages between hosts on TCP networks, where NCCL does not.
  HostLibrary host_library = HostLibrary::kSockets;
};

/// All kinds, in the order in which snippets name them.
const std::vector<FrameworkKind>& framework_kinds();
/// For programs that bring a framework along. Not while another thread reads scenarios. REQUIRES: no kind has this name.
void register_framework(FrameworkKind kind);

/// Returns the option messages of the frameworks that bring a schema of their own, for bind().
GuestMessages framework_messages();

/// The framework that a strategy says.
struct ReadFramework {
  bool said = false;
  std::shared_ptr<const Framework>
      framework;  ///< null although one is said: several are, or its options cannot be made out (a problem)
};
/// ERRORS (complaints): a framework that brings its schema along beside another one or beside a field that packs; merge scopes,
/// which no framework takes from the strategy; and what their readers find.
ReadFramework read_framework(const proto::Strategy& message, const GuestMessages& guests, Fields& fields,
                             Complaints& complaints);

/// For readers of frameworks whose buckets decide how gradients come into them: complains of `merging`.
void refuse_merging(const StrategyText& text, std::string_view name);

}  // namespace tutti::core
