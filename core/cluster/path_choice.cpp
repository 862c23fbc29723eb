#include "core/base/random.h"
#include "core/cluster/fabric.h"

namespace tutti::core {

std::uint64_t PathChoice::pick(Card from, Card to, std::uint64_t ways) const {
  const auto number = [this](Card card) {
    return static_cast<std::uint64_t>(card.worker) * static_cast<std::uint64_t>(cards_per_worker) +
           static_cast<std::uint64_t>(card.index);
  };
  if (ways == 1) return 0;
  if (rule == Rule::kDestination) return number(to) % ways;
  // With a plain xor, seed 1 would only swap the paths of neighbouring cards, so the seed is mixed
  // first.
  const std::uint64_t seeded = Random(seed).next();
  const std::uint64_t sender = Random(seeded ^ number(from)).next();
  return Random(sender ^ number(to)).below(ways);
}

}  // namespace tutti::core
