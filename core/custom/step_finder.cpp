// Finds the action of a lane's i-th step without visiting the steps before it. Blocks add up the
// numbers of steps of their statements. Loops divide the index by the number of steps per
// iteration. If the iterations of a loop have different numbers of steps, the iterations are
// searched one by one; compile() limits their number.

#include <algorithm>

#include "core/base/check.h"
#include "core/custom/program.h"

namespace tutti::core::custom {

StepFinder::Bounds StepFinder::bounds(const NodeCode& loop, const Variables& variables) const {
  const std::int64_t low = program_.values.at(loop.low, variables);
  const std::int64_t high = program_.values.at(loop.high, variables);
  return {low, std::max<std::int64_t>(0, high - low + 1), high};
}

std::int64_t StepFinder::count(int id, Variables& variables) const {
  const NodeCode& node = program_.nodes[id];
  if (node.count >= 0) return node.count;
  switch (node.kind) {
    case NodeCode::Kind::kBlock: {
      std::int64_t sum = 0;
      for (const int child : node.children) sum += count(child, variables);
      return sum;
    }
    case NodeCode::Kind::kIf:
      return count(program_.values.at(node.low, variables) != 0 ? node.body : node.otherwise,
                   variables);
    case NodeCode::Kind::kLoop: {
      const Bounds range = bounds(node, variables);
      std::int64_t& variable = variables[node.slot];
      variable = range.low;
      if (range.rounds == 0) return 0;
      if (!node.varies) return range.rounds * count(node.body, variables);
      std::int64_t sum = 0;
      for (std::int64_t round = 0; round < range.rounds; ++round) {
        variable = range.low + round;
        sum += count(node.body, variables);
      }
      return sum;
    }
    case NodeCode::Kind::kAction: return 1;
    case NodeCode::Kind::kMark: return 0;
  }
  return 0;
}

StepFinder::Found StepFinder::find(int id, std::int64_t index, Variables& variables) const {
  Found found;
  std::int64_t before = 0;
  while (true) {
    const NodeCode& node = program_.nodes[id];
    switch (node.kind) {
      case NodeCode::Kind::kAction: found.action = &program_.actions[node.action]; return found;
      case NodeCode::Kind::kBlock: {
        int next = -1;
        for (const int child : node.children) {
          const std::int64_t known = program_.nodes[child].count;
          const std::int64_t steps = known >= 0 ? known : count(child, variables);
          next = child;
          if (index < steps) break;
          index -= steps;
          before += steps;
        }
        TUTTI_CHECK(next >= 0, "step {} is past the end of its block", index);
        id = next;
        break;
      }
      case NodeCode::Kind::kIf:
        id = program_.values.at(node.low, variables) != 0 ? node.body : node.otherwise;
        break;
      case NodeCode::Kind::kLoop: {
        const Bounds range = bounds(node, variables);
        std::int64_t& variable = variables[node.slot];
        std::int64_t round = 0;
        if (!node.varies) {
          variable = range.low;
          const std::int64_t known = program_.nodes[node.body].count;
          const std::int64_t steps = known >= 0 ? known : count(node.body, variables);
          round = steps == 1 ? index : index / steps;
          // Reports the period of the innermost loop that has a next iteration. In the last
          // iteration of a loop, the loop around it determines the period.
          if (node.identical && (round + 1 < range.rounds || found.identical_period == 0))
            found.identical_period = steps, found.identical_end = before + range.rounds * steps;
          before += round * steps;
          index -= round * steps;
        } else {
          for (;; ++round) {
            variable = number_of(node, range, round);
            const std::int64_t steps = count(node.body, variables);
            if (index < steps) break;
            index -= steps;
            before += steps;
          }
        }
        variable = number_of(node, range, round);
        id = node.body;
        break;
      }
      case NodeCode::Kind::kMark: TUTTI_CHECK(false, "a mark has no step"); return found;
    }
  }
}

std::int64_t StepFinder::position(const MarkCode& mark, const std::vector<std::int64_t>& rounds,
                                  Variables& variables) const {
  std::int64_t steps = 0;
  std::size_t next_round = 0;
  for (std::size_t i = 0; i + 1 < mark.path.size(); ++i) {
    const NodeCode& node = program_.nodes[mark.path[i]];
    const int next = mark.path[i + 1];
    if (node.kind == NodeCode::Kind::kBlock) {
      for (const int child : node.children) {
        if (child == next) break;
        steps += count(child, variables);
      }
    } else if (node.kind == NodeCode::Kind::kIf) {
      if ((program_.values.at(node.low, variables) != 0 ? node.body : node.otherwise) != next)
        return steps;
    } else {
      const Bounds range = bounds(node, variables);
      const std::int64_t number = rounds[next_round++];
      const std::int64_t round = node.downwards ? range.high - number : number - range.low;
      if (round < 0) return steps;
      if (round >= range.rounds) return steps + count(mark.path[i], variables);
      std::int64_t& variable = variables[node.slot];
      if (!node.varies) {
        variable = range.low;
        steps += round * count(node.body, variables);
      } else {
        for (std::int64_t earlier = 0; earlier < round; ++earlier) {
          variable = number_of(node, range, earlier);
          steps += count(node.body, variables);
        }
      }
      variable = number;
    }
  }
  return steps;
}

}  // namespace tutti::core::custom
