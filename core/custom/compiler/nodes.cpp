// Derives the properties of nodes from the bottom up. They answer two questions. How many steps can
// a lane have? A loop multiplies the bound of its body by its number of iterations. And how many
// operations does it take to find the i-th step? If the iterations of a loop have equal numbers of
// steps, one division finds the iteration; otherwise StepFinder counts them one by one, so the
// compiler counts such loops now if their sum is the same on every rank, or limits them.

#include "core/custom/compiler/nodes.h"

#include <algorithm>
#include <utility>

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxCounting = 1 << 18;  // operations to find a step
constexpr std::int64_t kMaxCountingInAll = 1 << 24;

}  // namespace

int NodeBuilder::add(NodeCode::Kind kind) {
  program_.nodes.emplace_back().kind = kind;
  node_facts_.emplace_back();
  return static_cast<int>(program_.nodes.size()) - 1;
}

int NodeBuilder::add_action(CompiledAction action) {
  const int id = add(NodeCode::Kind::kAction);
  node(id).count = 1;
  node(id).action = static_cast<int>(program_.actions.size());
  facts_of(id) = {
      1, 1, 0, action.way_uses, action.way_uses | action.like_uses, action.code.wait >= 0};
  program_.actions.push_back(std::move(action.code));
  return id;
}

void NodeBuilder::finish_if(int id, int condition, int body, int otherwise) {
  NodeCode& made = node(id);
  made.low = values_.value(condition);
  made.body = body;
  made.otherwise = otherwise;
  const NodeFacts& yes = facts_of(body);
  const NodeFacts& no = facts_of(otherwise);
  const std::uint32_t uses = values_.facts(condition).uses;
  if (node(body).count >= 0 && node(body).count == node(otherwise).count)
    made.count = node(body).count;
  facts_of(id) = {std::max(yes.most, no.most),
                  1 + std::max(yes.counting, no.counting),
                  made.count >= 0 ? 0U : uses | yes.count_uses | no.count_uses,
                  uses | yes.way_uses | no.way_uses,
                  uses | yes.like_uses | no.like_uses,
                  yes.waits || no.waits,
                  1 + std::max(yes.visits, no.visits)};
}

void NodeBuilder::finish_loop(int id, const LoopText& text) {
  const int low = text.low;
  const int high = text.high;
  const int slot = text.slot;
  const int body = text.body;
  const std::int64_t rounds = values_.facts(high).high - values_.facts(low).low + 1;
  NodeCode& loop = node(id);
  loop.low = values_.value(low);
  loop.high = values_.value(high);
  loop.downwards = text.downwards;
  loop.slot = slot;
  loop.body = body;
  const std::uint32_t own = 1U << slot;
  const std::uint32_t bounds = values_.facts(low).uses | values_.facts(high).uses;
  const NodeFacts& inside = facts_of(body);
  loop.varies = (inside.count_uses & own) != 0;
  loop.ways_vary = (inside.way_uses & own) != 0;
  loop.identical = !loop.varies && !inside.waits && (inside.like_uses & own) == 0;
  NodeFacts facts;
  facts.most = capped_product(inside.most, rounds);
  facts.counting = loop.varies ? capped_product(inside.counting, rounds) : 1 + inside.counting;
  facts.count_uses = (bounds | inside.count_uses) & ~own;
  facts.way_uses = (bounds | inside.way_uses) & ~own;
  facts.like_uses = (bounds | inside.like_uses) & ~own;
  facts.waits = inside.waits;
  facts.visits = capped(1 + capped_product(inside.visits, loop.ways_vary ? rounds : 1));
  const bool fixed = values_.facts(low).constant() && values_.facts(high).constant();
  if (fixed && node(body).count >= 0 && facts.most <= kMaxSteps)
    loop.count = node(body).count * rounds;
  if (fixed && loop.varies && inside.count_uses == own && facts.counting <= kMaxCounting &&
      (counted_ += facts.counting) <= kMaxCountingInAll) {
    // The iterations of this loop have different numbers of steps, but every rank has the same
    // numbers. The total number of steps is therefore a constant.
    loop.count = sum_of(loop, values_.facts(low).low, rounds);
    facts.count_uses = 0;
  }
  if (loop.count >= 0) facts.count_uses = 0;
  facts_of(id) = facts;
  check_counting(id, text.at);
}

// Returns the total number of steps of a loop with `rounds` iterations. The steps of an
// iteration may depend only on the loop's own variable.
std::int64_t NodeBuilder::sum_of(const NodeCode& loop, std::int64_t low, std::int64_t rounds) {
  // StepFinder evaluates nodes of the program, so the nodes built so far are temporarily moved
  // there.
  values_.swap_nodes(program_.values.nodes);
  const StepFinder finder(program_);
  Variables variables{};
  std::int64_t sum = 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    variables[loop.slot] = low + round;
    sum += finder.count(loop.body, variables);
  }
  values_.swap_nodes(program_.values.nodes);
  return sum;
}

void NodeBuilder::finish_block(int id) {
  NodeFacts facts;
  std::int64_t count = 0;
  for (const int child : node(id).children) {
    const NodeFacts& one = facts_of(child);
    facts.most = capped(facts.most + one.most);
    facts.visits = capped(facts.visits + one.visits);
    facts.counting = capped(facts.counting + (node(child).count >= 0 ? 1 : one.counting));
    facts.count_uses |= one.count_uses;
    facts.way_uses |= one.way_uses;
    facts.like_uses |= one.like_uses;
    facts.waits = facts.waits || one.waits;
    if (count >= 0) count = node(child).count < 0 ? -1 : count + node(child).count;
  }
  if (count >= 0 && facts.most <= kMaxSteps) node(id).count = count;
  facts_of(id) = facts;
}

void NodeBuilder::check_counting(int id, Position at) {
  if (facts_of(id).counting <= kMaxCounting || !sound()) return;
  complain(ProblemCode::kTooLarge, at,
           "the iterations of this loop have different numbers of steps, and counting these steps "
           "takes more than {} operations; use iterations of equal length, or fewer iterations",
           kMaxCounting);
}

}  // namespace tutti::core::custom
