// Computes the chunk of a step directly from the step's index, without iterating over earlier
// steps. In round t (0 … 2n - 2), the rank at position p handles chunk (p - t) mod n. Rounds with
// empty chunks are skipped (filled_rounds.h).
//
// If a lane's part of the buffer is longer than n messages, the part is sent in several loops. In
// each loop except the last, a lane sends n full messages.
//
// step() takes a third of the simulation time of a ring, so it writes the fields of its result one
// by one. If a Range or Peer were built elsewhere and then copied, its fields would be stored one
// by one (a byte, two words) but loaded 16 bytes at a time. Processors cannot forward several small
// stores to one large load, and stall about 12 cycles until the stores are in the cache.

#include "core/algorithm/ring.h"

#include <algorithm>

#include "core/algorithm/filled_rounds.h"
#include "core/algorithm/ring_walk.h"
#include "core/base/check.h"
#include "core/schedule/copy_of_input.h"

namespace tutti::core {
namespace {

class Ring : public Schedule {
 public:
  Ring(std::int32_t ranks, std::int64_t elements, const RingOptions& options)
      : n_(ranks), elements_(elements), options_(options), walk_(ranks, options.lanes) {
    TUTTI_CHECK(ranks >= 1 && elements >= 0, "ranks = {}, elements = {}", ranks, elements);
    TUTTI_CHECK(
        !options_.lanes.empty() && options_.max_elements_per_message >= 1 && options_.credits >= 1,
        "lanes = {}", options_.lanes.size());
    if (elements_ > 0) {
      const std::int64_t longest_part = EvenCut{elements_, lane_count()}.size(0);
      const std::int64_t chunk = (longest_part + n_ - 1) / n_;
      loop_chunk_ = std::min(chunk, options_.max_elements_per_message);
      loop_elements_ = loop_chunk_ * n_;
    }
    for (Lane lane = 0; lane < lane_count(); ++lane) parts_.push_back(part_of(lane));
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return static_cast<std::int32_t>(lane_count());
  }
  [[nodiscard]] int credits(Rank, Lane) const override { return options_.credits; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    const Part& part = parts_[lane];
    if (n_ == 1) return steps_alone(part);
    const std::int64_t rounds = last_round() + 1;
    return part.full_loops * rounds +
           FilledRounds{n_, part.filled}.before(rounds, walk_.position(rank, lane));
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Part& part = parts_[lane];
    if (n_ == 1) {
      const Stretch all = chunk_of(part, index, 0);
      return copy_of_input({Buffer::kData, all.offset, all.count}, options_.input_shift);
    }
    Step step;
    const std::int64_t p = walk_.position(rank, lane);
    const std::int64_t rounds = last_round() + 1;
    // Divisions take half of the time of step(), so the usual case (one loop, no empty chunks)
    // avoids them.
    const std::int64_t loop = part.full_loops == 0 ? 0 : std::min(index / rounds, part.full_loops);
    std::int64_t t = index - loop * rounds;
    if (loop == part.full_loops && part.filled < n_)
      t = FilledRounds{n_, part.filled}.round_of(t, p);
    std::int64_t chunk = p - t;  // modulo n, and t < 2n
    if (chunk < 0) chunk += n_;
    if (chunk < 0) chunk += n_;
    const Stretch at = chunk_of(part, loop, chunk);
    // A rank's own data is read from its input when a step handles the data for the first time.
    step.source.offset = at.offset + (t <= n_ - 1 ? options_.input_shift : 0);
    step.target.offset = at.offset;
    step.source.count = step.target.count = at.count;
    walk_.neighbour(rank, lane, -1, step.from);
    walk_.neighbour(rank, lane, +1, step.to);
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

  /// The schedule is symmetric if all chunks have the same size.
  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    const bool even = std::all_of(parts_.begin(), parts_.end(),
                                  [](const Part& part) { return part.longer == 0; });
    return by == Renumbering::kShift && even && walk_.same_after(per_worker);
  }

  /// Returns the range of identical rounds that contains the step: rounds 1 … n - 2 forward partial
  /// sums, and rounds n … 2n - 3 forward results. Rounds 0, n - 1 and 2n - 2 belong to neither
  /// range of identical rounds.
  [[nodiscard]] IdenticalSteps identical_from(Rank, Lane lane, std::int64_t index) const override {
    const Part& part = parts_[lane];
    if (n_ == 1) return {};
    const std::int64_t rounds = last_round() + 1;
    const std::int64_t loop = std::min(index / rounds, part.full_loops);
    if (loop == part.full_loops && part.longer != 0) return {};
    const std::int64_t first = loop * rounds;
    const std::int64_t t = index - first;
    if (t == 0 || t == n_ - 1 || t == last_round()) return {};
    return {1, first + (t < n_ ? n_ - 1 : last_round())};
  }

  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    if (n_ == 1 || steps(rank, lane) == 0) return;
    Step all;  // all messages go to this neighbour
    all.kind = StepKind::kSend;
    walk_.neighbour(rank, lane, +1, all.to);
    visit(all);
  }

 private:
  /// A lane's part of the buffer, which consists of `full_loops` loops of n full messages each, and
  /// a remainder.
  struct Part {
    std::int64_t offset = 0;
    std::int64_t full_loops = 0;
    std::int64_t rest = 0;
    // The division of the remainder into chunks; see EvenCut.
    std::int64_t chunk = 0;
    std::int64_t longer = 0;
    std::int64_t filled = 0;
  };

  [[nodiscard]] std::int64_t lane_count() const {
    return static_cast<std::int64_t>(options_.lanes.size());
  }
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

  /// The number of steps of a ring with one rank. Such a ring copies its input if the collective is
  /// out of place; otherwise, it has nothing to do.
  [[nodiscard]] std::int64_t steps_alone(const Part& part) const {
    return options_.input_shift != 0 && part.rest > 0 ? part.full_loops + 1 : 0;
  }

  /// A range of the rank's data, in elements.
  struct Stretch {
    std::int64_t offset = 0;
    std::int64_t count = 0;
  };

  /// Returns a chunk of one loop of a lane.
  [[nodiscard]] Stretch chunk_of(const Part& part, std::int64_t loop, std::int64_t chunk) const {
    const std::int64_t begin = part.offset + loop * loop_elements_;
    if (loop < part.full_loops) return {begin + chunk * loop_chunk_, loop_chunk_};
    return {begin + chunk * part.chunk + std::min(chunk, part.longer),
            part.chunk + (chunk < part.longer ? 1 : 0)};
  }

  std::int32_t n_;
  std::int64_t elements_;
  RingOptions options_;
  RingWalk walk_;
  std::vector<Part> parts_;  ///< one part per lane
  std::int64_t loop_chunk_ = 1;
  std::int64_t loop_elements_ = 1;
};

}  // namespace

std::unique_ptr<Schedule> ring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                          const RingOptions& options) {
  return std::make_unique<Ring>(ranks, elements, options);
}

}  // namespace tutti::core
