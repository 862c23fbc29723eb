#include "core/advice/closed_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/advice/lanes.h"
#include "core/base/format.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

constexpr const char* kRing = "2(n - 1)(α + wire(C)) + (n - 1)·add(C)";

std::string chunk(const Collective& whole, std::int64_t parts) {
  const std::int64_t elements = (whole.elements + parts - 1) / parts;
  return show(elements * size_of(whole.type));
}

}  // namespace

ClosedForm closed_form(const Scenario& scenario, const Pack& pack) {
  const Strategy s = strategy_of(scenario.strategy, pack);
  const Collective& whole = scenario.plan.collective(pack);
  const std::int64_t n = whole.contributors;
  const AlgorithmTraits& algorithm = traits(s.algorithm);
  switch (algorithm.closed_form) {
    case ClosedFormKind::kRings: {
      const std::int64_t rings = std::max(1, lanes_of(scenario, pack));
      if (rings == 1) return {kRing, fmt::format("n = {} ranks, C = {}", n, chunk(whole, n))};
      return {"(n - 1)·max(kτ, τ + α + add(C)) + (n - 2)·max(kτ, τ + α) + kτ + α, τ = wire(C)",
              fmt::format("n = {} ranks, k = {} {}, C = {}", n, rings,
                          algorithm.channels ? "channels" : "rings", chunk(whole, n * rings))};
    }
    case ClosedFormKind::kHalves:
      return {"Σ over log2 n hops of 2(α + wire(c)) + add(c); each hop halves the chunk c",
              fmt::format("n = {} ranks, c = {} first", n, chunk(whole, 2))};
    case ClosedFormKind::kDoubling:
      return {"log2 n · (α + wire(E) + add(E))",
              fmt::format("n = {} ranks, E = {}", n, chunk(whole, 1))};
    case ClosedFormKind::kNone: break;
  }
  return {};
}

}  // namespace tutti::core
