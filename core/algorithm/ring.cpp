// How a step's number becomes a chunk, without looking at the steps before it. In round t (0 … 2n - 2) the rank at
// position p handles chunk (p - t) mod n. If only the first f < n chunks hold anything, the rounds whose chunk is empty
// are left out: the rank's filled rounds come in runs of f (chunks f-1 … 0), n - f empty rounds apart, except that
// its first run may begin in the middle (at chunk p, if p < f). `round_of` and `rounds_before` are that arithmetic.
//
// A lane's part longer than n messages is sent round in loops: all but the last move n full messages.

#include "core/algorithm/ring.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class Ring : public Schedule {
 public:
  Ring(std::int32_t ranks, std::int64_t elements, const RingOptions& options)
      : n_(ranks), elements_(elements), options_(options) {
    TUTTI_CHECK(ranks >= 1 && elements >= 0, "ranks = {}, elements = {}", ranks, elements);
    TUTTI_CHECK(!options_.lanes.empty() && options_.most_elements_per_message >= 1 && options_.credits >= 1,
                "lanes = {}", options_.lanes.size());
    for (const RingPath& path : options_.lanes) {
      TUTTI_CHECK(path.local.size() == static_cast<std::size_t>(path.per_worker) && ranks % path.per_worker == 0,
                  "{} ranks in workers of {}, local order of {}", ranks, path.per_worker, path.local.size());
      Walk walk;
      walk.place.resize(path.local.size());
      for (std::size_t i = 0; i < path.local.size(); ++i) {
        walk.place[static_cast<std::size_t>(path.local[i])] = static_cast<std::int32_t>(i);
        if (path.local[i] != static_cast<std::int32_t>(i)) walk.in_order = false;
      }
      walks_.push_back(std::move(walk));
    }
    if (elements_ > 0) {
      const std::int64_t longest_part = EvenCut{elements_, lane_count()}.size(0);
      const std::int64_t chunk = (longest_part + n_ - 1) / n_;
      loop_chunk_ = std::min(chunk, options_.most_elements_per_message);
      loop_elements_ = loop_chunk_ * n_;
    }
    for (Lane lane = 0; lane < lane_count(); ++lane) parts_.push_back(part_of(lane));
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return static_cast<std::int32_t>(lane_count()); }
  [[nodiscard]] int credits(Rank, Lane) const override { return options_.credits; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (n_ == 1) return 0;
    const Part& part = parts_[static_cast<std::size_t>(lane)];
    const std::int64_t p = position(rank, lane);
    return part.full_loops * last_round() + part.full_loops + rounds_before(last_round() + 1, p, part.filled);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Part& part = parts_[static_cast<std::size_t>(lane)];
    const std::int64_t p = position(rank, lane);
    const std::int64_t rounds = last_round() + 1;
    // Divisions are half of what a step costs: most rings have one loop, and every chunk of it filled.
    const std::int64_t loop = part.full_loops == 0 ? 0 : std::min(index / rounds, part.full_loops);
    const bool full = loop < part.full_loops;
    std::int64_t t = index - loop * rounds;
    if (!full && part.filled < n_) t = round_of(t, p, part.filled);
    std::int64_t chunk = p - t;  // modulo n, and t < 2n
    if (chunk < 0) chunk += n_;
    if (chunk < 0) chunk += n_;
    Range range{Buffer::kData, part.offset + loop * loop_elements_, loop_chunk_};
    if (full) {
      range.offset += chunk * range.count;
    } else {
      range.offset += chunk * part.chunk + std::min(chunk, part.longer);
      range.count = part.chunk + (chunk < part.longer ? 1 : 0);
    }

    Step step;
    step.source = step.target = range;
    step.from = neighbour(rank, lane, -1);
    step.to = neighbour(rank, lane, +1);
    if (t == 0) {
      step.kind = StepKind::kSend;
    } else if (t < n_ - 1) {
      step.kind = StepKind::kReceiveReduceSend;
    } else if (t == n_ - 1) {
      step.kind = StepKind::kReceiveReduceCopySend;
    } else if (t < last_round()) {
      step.kind = StepKind::kReceiveSend;
    } else {
      step.kind = StepKind::kReceive;
    }
    return step;
  }

  void visit_ways(Rank rank, Lane lane, const std::function<void(const Step&)>& visit) const override {
    if (steps(rank, lane) == 0) return;
    Step all;  // to one neighbour
    all.kind = StepKind::kSend;
    all.to = neighbour(rank, lane, +1);
    visit(all);
  }

 private:
  /// A lane's way through the workers, the other way about: `place[i]` is where local rank i stands in it.
  struct Walk {
    std::vector<std::int32_t> place;
    bool in_order = true;
  };
  /// A lane's part of the buffer: so many loops of n full messages, then the rest.
  struct Part {
    std::int64_t offset = 0;
    std::int64_t full_loops = 0;
    std::int64_t rest = 0;
    // The rest as EvenCut has it.
    std::int64_t chunk = 0;
    std::int64_t longer = 0;
    std::int64_t filled = 0;
  };

  [[nodiscard]] std::int64_t lane_count() const { return static_cast<std::int64_t>(options_.lanes.size()); }
  [[nodiscard]] std::int64_t last_round() const { return 2 * (static_cast<std::int64_t>(n_) - 1); }

  [[nodiscard]] Part part_of(Lane lane) const {
    const EvenCut cut{elements_, lane_count()};
    Part part{cut.offset(lane), 0, cut.size(lane)};
    if (part.rest > 0) {
      part.full_loops = (part.rest - 1) / loop_elements_;
      part.rest -= part.full_loops * loop_elements_;
    }
    part.chunk = part.rest / n_;
    part.longer = part.rest % n_;
    part.filled = EvenCut{part.rest, n_}.filled();
    return part;
  }

  [[nodiscard]] std::int64_t position(Rank rank, Lane lane) const {
    const Walk& walk = walks_[static_cast<std::size_t>(lane)];
    if (walk.in_order) return rank;
    const auto per_worker = static_cast<std::int32_t>(walk.place.size());
    return rank - rank % per_worker + walk.place[static_cast<std::size_t>(rank % per_worker)];
  }

  [[nodiscard]] Peer neighbour(Rank rank, Lane lane, std::int32_t delta) const {
    const Walk& walk = walks_[static_cast<std::size_t>(lane)];
    if (walk.in_order) return Peer::ahead(delta, lane);
    const RingPath& path = options_.lanes[static_cast<std::size_t>(lane)];
    const auto other = static_cast<std::int32_t>((position(rank, lane) + delta + n_) % n_);
    return Peer::at(other - other % path.per_worker + path.local[static_cast<std::size_t>(other % path.per_worker)],
                    lane);
  }

  /// The round of a rank's i-th filled chunk, when the first `f` chunks are filled. REQUIRES: f > 0.
  [[nodiscard]] std::int64_t round_of(std::int64_t i, std::int64_t p, std::int64_t f) const {
    const std::int64_t first_run = p < f ? p + 1 : 0;  // filled rounds before the first gap
    if (i < first_run) return i;
    const std::int64_t first_gap_end = p < f ? p + 1 + (n_ - f) : p - f + 1;
    return first_gap_end + (i - first_run) / f * n_ + (i - first_run) % f;
  }

  /// How many of the rounds 0 … t - 1 handle a filled chunk.
  [[nodiscard]] std::int64_t rounds_before(std::int64_t t, std::int64_t p, std::int64_t f) const {
    if (f == 0) return 0;
    if (f == n_) return t;
    const std::int64_t first_run = p < f ? p + 1 : 0;
    const std::int64_t first_gap_end = p < f ? p + 1 + (n_ - f) : p - f + 1;
    if (t <= first_gap_end) return std::min(t, first_run);
    const std::int64_t past = t - first_gap_end;
    return first_run + past / n_ * f + std::min(past % n_, f);
  }

  std::int32_t n_;
  std::int64_t elements_;
  RingOptions options_;
  std::vector<Walk> walks_;
  std::vector<Part> parts_;  ///< by lane
  std::int64_t loop_chunk_ = 1;
  std::int64_t loop_elements_ = 1;
};

}  // namespace

std::unique_ptr<Schedule> ring_all_reduce(std::int32_t ranks, std::int64_t elements, const RingOptions& options) {
  return std::make_unique<Ring>(ranks, elements, options);
}

}  // namespace tutti::core
