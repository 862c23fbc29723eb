#pragma once

#include <cstdint>
#include <string_view>

#include "core/custom/mscclpp/plan.h"

namespace tutti::core::custom {

/// The places of an operation's operands: on the rank that executes the operation (local), on other
/// ranks (remote), or in a switch.
enum class Operands : std::uint8_t {
  kNone,
  kPut,          ///< one local source and one remote target
  kGet,          ///< one remote source and one local target
  kLocal,        ///< one local source and one local target
  kReduce,       ///< local sources; the first target is local, all other targets are remote
  kReduceKeep,   ///< like kReduce, but the second target is local too
  kReadReduce,   ///< like kReduce, but only the first source is local
  kStore,        ///< a local source and a target in the switch
  kReduceStore,  ///< a source and a target in the switch
  kReadPut,      ///< one local source, any number of remote targets
};

/// An operation of the format: its name in the file, its kind, and its operands.
struct PlanName {
  const char* name;
  PlanVerb verb;
  Operands operands;
  bool packets_in;
  bool packets_out;
  bool sends;  ///< true if the operation can write to other ranks
};

/// Returns the operation of this name; null if MSCCL++ has no such operation.
const PlanName* plan_operation(std::string_view name);

}  // namespace tutti::core::custom
