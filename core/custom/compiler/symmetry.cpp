// Checks two symmetries. Under a shift, worker w becomes worker w + d; under an exchange, worker w
// becomes worker w xor d. ValueBuilder derives how each value changes (UnderShift, UnderExchange).

#include "core/custom/compiler/symmetry.h"

#include <utility>

namespace tutti::core::custom {
namespace {

void note(Obstacle& obstacle, Position at, std::string what) {
  if (obstacle.what.empty()) obstacle = {at, std::move(what)};
}

}  // namespace

void SymmetryCheck::need_same(int value, Position at, const std::string& what) {
  const Facts& facts = values_.facts(value);
  if (!facts.shift.same()) note(program_.to_shift, at, what);
  if (!facts.exchange.same()) note(program_.to_exchange, at, what);
}

void SymmetryCheck::need_moving(int peer, Position at) {
  const Facts& facts = values_.facts(peer);
  const std::int64_t ranks = program_.shape.ranks;
  const std::int64_t per_node = program_.shape.per_node;
  const bool shifts = facts.shift.known && facts.shift.modulus > 0 &&
                      facts.shift.modulus % ranks == 0 &&
                      (facts.shift.step - per_node) % ranks == 0;
  if (!shifts)
    note(program_.to_shift, at,
         "the rank of this peer is not computed relative to the rank's own node");
  const bool exchanges = facts.exchange.known && facts.exchange.scale == per_node &&
                         facts.low >= 0 && facts.high < ranks;
  if (!exchanges)
    note(program_.to_exchange, at,
         "the rank of this peer is not computed relative to the rank's own node");
}

void SymmetryCheck::check_declared_symmetry() {
  if (program_.shape.ranks == program_.shape.per_node) return;
  const auto keep = [&](bool promised, const Obstacle& obstacle, const char* name,
                        const char* relative) {
    if (!promised || obstacle.what.empty()) return;
    complain(ProblemCode::kConflict, obstacle.at,
             "{}, but the file declares {} (line {}), which requires the same steps on all nodes; "
             "compute ranks from the own rank, such as {}, or remove symmetry",
             obstacle.what, name, syntax_.symmetry_at.line, relative);
  };
  keep(syntax_.shift_promised, program_.to_shift, "symmetry shift", "rank + 1");
  keep(syntax_.exchange_promised, program_.to_exchange, "symmetry exchange", "xor(rank, …)");
}

}  // namespace tutti::core::custom
