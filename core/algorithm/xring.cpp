#include "core/algorithm/xring.h"

#include "core/algorithm/ring_walk.h"
#include "core/base/check.h"

namespace tutti::core {
namespace {

class Xring : public Schedule {
 public:
  Xring(std::int32_t ranks, std::int64_t elements, const RingOptions& options)
      : n_(ranks), elements_(elements), options_(options), walk_(ranks, options.lanes) {
    const auto chunks = static_cast<std::int64_t>(n_) * rings();
    TUTTI_CHECK(ranks >= 1 && elements >= 0 && rings() >= 1 && elements % chunks == 0,
                "{} elements in {} chunks", elements, chunks);
    chunk_ = elements / chunks;
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return rings(); }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

  /// If there is only one rank, it copies its input (out of place) or does nothing (in place).
  [[nodiscard]] std::int64_t steps(Rank, Lane) const override {
    if (elements_ == 0) return 0;
    return n_ > 1 ? last_round() + 1 : options_.input_shift != 0 ? 1 : 0;
  }

  [[nodiscard]] Step step(Rank rank, Lane ring, std::int64_t round) const override {
    const std::int64_t p = walk_.position(rank, ring);
    // The segment that the rank at position p handles in this round: p - 1 in round 0, and one less
    // in each later round.
    const std::int64_t segment = n_ == 1 ? 0 : (p - 1 - round + 3 * n_) % n_;
    Step step;
    step.source = step.target = {Buffer::kData, (segment * rings() + ring) * chunk_, chunk_};
    if (round <= n_ - 1)
      step.source.offset += options_.input_shift;  // the rank's own data, not yet a sum
    if (n_ == 1) {
      step.kind = StepKind::kCopy;
      return step;
    }
    step.from = walk_.neighbour(rank, ring, -1);
    step.to = walk_.neighbour(rank, ring, +1);
    step.kind = kind_in(round);
    return step;
  }

  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return by == Renumbering::kShift && walk_.same_after(per_worker);
  }

  void visit_ways(Rank rank, Lane ring,
                  const std::function<void(const Step&)>& visit) const override {
    if (n_ == 1 || elements_ == 0) return;
    Step all;  // all messages go to this neighbour
    all.kind = StepKind::kSend;
    all.to = walk_.neighbour(rank, ring, +1);
    visit(all);
  }

 private:
  [[nodiscard]] std::int32_t rings() const {
    return static_cast<std::int32_t>(options_.lanes.size());
  }
  [[nodiscard]] std::int64_t last_round() const { return 2 * (static_cast<std::int64_t>(n_) - 1); }
  [[nodiscard]] StepKind kind_in(std::int64_t round) const {
    if (round == 0) return StepKind::kSend;
    if (round < n_ - 1) return StepKind::kReceiveReduceSend;
    if (round == n_ - 1) return StepKind::kReceiveReduceCopySend;
    return round < last_round() ? StepKind::kReceiveSend : StepKind::kReceive;
  }

  std::int32_t n_;
  std::int64_t elements_;
  RingOptions options_;
  RingWalk walk_;
  std::int64_t chunk_ = 0;
};

}  // namespace

std::unique_ptr<Schedule> xring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                           const RingOptions& options) {
  return std::make_unique<Xring>(ranks, elements, options);
}

std::int64_t padded_for_xring(std::int64_t elements, std::int64_t ranks, std::int64_t rings) {
  const std::int64_t pieces = ranks * rings;
  return (elements + pieces - 1) / pieces * pieces;
}

}  // namespace tutti::core
