#include "core/strategy/varying_sizes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/algorithm/direct.h"
#include "core/base/check.h"
#include "core/base/random.h"
#include "core/nccl/collective_time.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

class ByPopularity final : public BlockSizes {
 public:
  ByPopularity(std::int64_t capacity, std::int64_t min_ppm, std::uint64_t seed, bool combines)
      : capacity_(capacity), min_ppm_(min_ppm), seed_(seed), combines_(combines) {}

  [[nodiscard]] std::int64_t of(Rank from, Rank to) const override {
    const auto expert = static_cast<std::uint64_t>(combines_ ? from : to);
    Random random(seed_ ^ (expert + 1) * 0x9e3779b97f4a7c15u);
    const auto above = static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(kMillion - min_ppm_ + 1)));
    return static_cast<std::int64_t>(static_cast<Wide>(capacity_) * (min_ppm_ + above) / kMillion);
  }

 private:
  std::int64_t capacity_;
  std::int64_t min_ppm_;
  std::uint64_t seed_;  ///< seed for both executions of a pair
  bool combines_;
};

/// The load of the busiest sender or receiver, as a fraction of the load with full blocks. `near`
/// is for ranks and their messages inside a worker. `far` is for ranks and their messages to other
/// workers. `far_of_worker` is for workers and their messages to other workers.
struct Shares {
  double near = 1, far = 1, far_of_worker = 1;
};

Shares shares_of(const Collective& uneven) {
  const auto ranks = static_cast<Rank>(uneven.contributors);
  const std::int64_t block = uneven.elements / ranks;
  struct Load {
    std::int64_t sent = 0, received = 0, full = 0;  ///< `full` is what would be sent (and received)
                                                    ///< if all blocks were full
    [[nodiscard]] double share() const {
      return full == 0 ? 0
                       : static_cast<double>(std::max(sent, received)) / static_cast<double>(full);
    }
  };
  std::vector<Load> near(ranks), far(static_cast<std::size_t>(ranks));
  std::map<std::int32_t, Load> of_worker;
  const auto worker = [&](Rank r) { return uneven.group.device(r).worker; };
  for (Rank from = 0; from < ranks; ++from) {
    for (Rank to = 0; to < ranks; ++to) {
      if (from == to) continue;  // a rank's own block stays where it is
      const std::int64_t size = uneven.filled->of(from, to);
      const bool inside = worker(from) == worker(to);
      Load& gives = (inside ? near : far)[from];
      gives.sent += size;
      gives.full += block;
      (inside ? near : far)[to].received += size;
      if (inside) continue;
      of_worker[worker(from)].sent += size;
      of_worker[worker(from)].full += block;
      of_worker[worker(to)].received += size;
    }
  }
  Shares shares{0, 0, 0};
  for (const Load& load : near) shares.near = std::max(shares.near, load.share());
  for (const Load& load : far) shares.far = std::max(shares.far, load.share());
  for (const auto& [number, load] : of_worker)
    shares.far_of_worker = std::max(shares.far_of_worker, load.share());
  return shares;
}

void scale(Time& time, double share) {
  time = Time(std::llround(static_cast<double>(time.count()) * share));
}

}  // namespace

std::shared_ptr<const BlockSizes> VaryingSizes::of(std::int64_t capacity, std::int64_t group,
                                                   const Occurrence& occurrence) const {
  const auto pair = static_cast<std::uint64_t>(occurrence.number / 2);
  Random of_step(occurrence.seed ^
                 static_cast<std::uint32_t>(occurrence.step) * 0xbf58476d1ce4e5b9u);
  Random of_pair(of_step.next() ^ pair * 0x94d049bb133111ebu);
  Random of_group(of_pair.next() ^ static_cast<std::uint64_t>(group) * 0x9e3779b97f4a7c15u);
  return std::make_shared<const ByPopularity>(capacity, min_filled_ppm, of_group.next(),
                                              occurrence.number % 2 == 1);
}

Collective with_sizes(const Collective& full, std::shared_ptr<const BlockSizes> sizes) {
  TUTTI_CHECK(full.kind == CollectiveKind::kAllToAll && !full.parts,
              "{} does not support different sizes per rank", to_string(full.kind));
  Collective made = full;
  made.filled = std::move(sizes);
  made.schedule = direct(made.contract(), full.schedule->engine(0, 0));
  if (!full.nccl) return made;
  const Shares shares = shares_of(made);
  auto time = std::make_shared<nccl::CollectiveTime>(*full.nccl);
  scale(time->work, time->cards >= time->links ? shares.far : shares.near);
  scale(time->links, shares.near);
  scale(time->cards, shares.far);
  time->time.links.bytes *= shares.near;
  time->time.relayed *= shares.near;
  time->time.cards.bytes *= shares.far_of_worker;
  made.nccl = std::move(time);
  made.nccl_ways = made.schedule;
  return made;
}

}  // namespace tutti::core
