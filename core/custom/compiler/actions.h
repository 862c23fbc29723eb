#pragma once

#include <cstdint>

#include "core/custom/compiler/lane_families.h"
#include "core/custom/compiler/symmetry.h"

namespace tutti::core::custom {

/// An action of the program, and the variables on which it depends.
struct CompiledAction {
  ActionCode code;
  std::uint32_t way_uses = 0;   ///< bit mask of the variable slots (values.h) on which peers depend
  std::uint32_t like_uses = 0;  ///< bit mask of the variable slots (values.h) on which sizes depend
};

/// Compiles the statements send, receive, reduce, copy, add and multicast. Each of these statements
/// becomes one step.
class ActionCompiler : public CompilerPart {
 public:
  ActionCompiler(Compilation& shared, ExpressionCompiler& expressions, SymmetryCheck& symmetry,
                 LaneFamilies& lanes)
      : CompilerPart(shared), expressions_(expressions), symmetry_(symmetry), lanes_(lanes) {}

  /// `wait`: the index, in Program::waits, of the wait directly before the statement; -1: none.
  CompiledAction compile(const ActionText& text, int wait);

 private:
  void check_nothing(const ActionText& text);
  RangeCode compile_range(const RangeText& text);
  void compile_piece(const RangeText& text, RangeCode& place);
  void size_depends_on(int value, Position at);
  PeerCode compile_peer(const PeerText& text);
  void compile_lane_of(const PeerText& text, PeerCode& peer);
  GroupCode compile_group(const GroupText& text);

  ExpressionCompiler& expressions_;
  SymmetryCheck& symmetry_;
  LaneFamilies& lanes_;
  std::uint32_t ways_ = 0;  ///< CompiledAction::way_uses of the current action
  std::uint32_t like_ = 0;  ///< CompiledAction::like_uses of the current action
};

}  // namespace tutti::core::custom
