#include "core/algorithm/shuffle.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class Shuffle : public Schedule {
 public:
  Shuffle(std::int32_t ranks, std::int32_t contributors, std::vector<Rank> gather_ranks, std::int64_t elements,
          Engine contributor_engine, Engine gather_engine)
      : ranks_(ranks),
        n_(contributors),
        gather_(std::move(gather_ranks)),
        cut_{elements, static_cast<std::int64_t>(gather_.size())},
        contributor_engine_(contributor_engine),
        gather_engine_(gather_engine) {
    TUTTI_CHECK(n_ >= 1 && n_ <= ranks_ && !gather_.empty() && elements >= 0,
                "{} contributors of {} ranks, {} gather ranks", n_, ranks_, gather_.size());
    for (const Rank r : gather_) TUTTI_CHECK(r >= 0 && r < ranks_, "gather rank {} of {}", r, ranks_);
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return contributor_lanes(rank) + pieces_at(rank) * gather_lanes();
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (lane < contributor_lanes(rank)) {
      const std::int64_t piece = piece_on(rank, lane);
      return cut_.size(piece) == 0 || gather_rank(piece) == rank ? 0 : 2;
    }
    const GatherLane at = gather_lane(rank, lane);
    if (cut_.size(at.piece) == 0) return 0;
    if (at.lane == 0) return inputs(rank) > 0 ? inputs(rank) + 1 : 0;
    return answered(at.piece, at.lane) == rank ? 0 : 1;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return lane < contributor_lanes(rank) ? contributor_step(rank, lane, index)
                                          : gather_step(rank, gather_lane(rank, lane), index);
  }

  [[nodiscard]] std::int64_t scratch(Rank rank) const override { return scratch_before(rank, pieces()); }

  [[nodiscard]] Engine engine(Rank rank, Lane lane) const override {
    return lane < contributor_lanes(rank) ? contributor_engine_ : gather_engine_;
  }

  /// A gather rank's own contribution does not arrive, so the slots close up behind it.
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane, Rank sender) const override {
    return contributes(rank) && sender > rank ? sender - 1 : sender;
  }

 private:
  /// A lane on the gather side: of which piece, and which of its lanes (0 collects and sums, 1 … n answer).
  struct GatherLane {
    std::int64_t piece = 0;
    Lane lane = 0;
  };

  [[nodiscard]] bool contributes(Rank rank) const { return rank < n_; }
  [[nodiscard]] std::int32_t pieces() const { return static_cast<std::int32_t>(gather_.size()); }
  [[nodiscard]] Rank gather_rank(std::int64_t piece) const { return gather_[static_cast<std::size_t>(piece)]; }
  [[nodiscard]] std::int32_t contributor_lanes(Rank rank) const { return contributes(rank) ? pieces() : 0; }
  [[nodiscard]] std::int32_t gather_lanes() const { return 1 + n_; }
  /// Messages that a gather rank receives for each of its pieces.
  [[nodiscard]] std::int32_t inputs(Rank rank) const { return n_ - (contributes(rank) ? 1 : 0); }
  [[nodiscard]] Range piece_range(std::int64_t piece) const {
    return {Buffer::kData, cut_.offset(piece), cut_.size(piece)};
  }

  [[nodiscard]] std::int32_t pieces_at(Rank rank) const {
    return static_cast<std::int32_t>(std::count(gather_.begin(), gather_.end(), rank));
  }

  [[nodiscard]] GatherLane gather_lane(Rank rank, Lane lane) const {
    lane -= contributor_lanes(rank);
    std::int64_t piece = 0;
    for (std::int32_t skip = lane / gather_lanes(); gather_rank(piece) != rank || skip-- > 0;) ++piece;
    return {piece, lane % gather_lanes()};
  }

  /// The first of the lanes on which `piece` is gathered.
  [[nodiscard]] Lane first_gather_lane(std::int64_t piece) const {
    const Rank rank = gather_rank(piece);
    const auto earlier = std::count(gather_.begin(), gather_.begin() + piece, rank);
    return contributor_lanes(rank) + static_cast<Lane>(earlier) * gather_lanes();
  }

  /// Scratch for one input after the other; a helper, which has no data of its own, needs a place for the sum too.
  [[nodiscard]] std::int64_t scratch_before(Rank rank, std::int64_t piece) const {
    std::int64_t elements = 0;
    for (std::int64_t p = 0; p < piece; ++p) {
      if (gather_rank(p) == rank) elements += cut_.size(p) * (inputs(rank) + (contributes(rank) ? 0 : 1));
    }
    return elements;
  }

  /// The piece on lane 0 of contributor `rank`: the one it gathers itself, else another one for each rank, so that the
  /// gather ranks are not all asked for the same thing at once.
  [[nodiscard]] std::int64_t first_piece(Rank rank) const {
    const auto own = std::find(gather_.begin(), gather_.end(), rank);
    return own != gather_.end() ? own - gather_.begin() : rank % pieces();
  }
  [[nodiscard]] std::int64_t piece_on(Rank rank, Lane lane) const { return (first_piece(rank) + lane) % pieces(); }
  [[nodiscard]] Lane lane_of_piece(Rank rank, std::int64_t piece) const {
    return static_cast<Lane>((piece - first_piece(rank) + pieces()) % pieces());
  }
  /// The contributor that lane 1 … n of a piece answers: each piece begins with another one.
  [[nodiscard]] Rank answered(std::int64_t piece, Lane lane) const {
    return static_cast<Rank>((piece + lane - 1) % n_);
  }
  [[nodiscard]] Lane answering_lane(std::int64_t piece, Rank contributor) const {
    return static_cast<Lane>(1 + ((contributor - piece) % n_ + n_) % n_);
  }

  [[nodiscard]] Step contributor_step(Rank rank, Lane lane, std::int64_t index) const {
    const std::int64_t piece = piece_on(rank, lane);
    Step step;
    step.kind = index == 0 ? StepKind::kSend : StepKind::kReceive;
    step.source = step.target = piece_range(piece);
    step.to = Peer::at(gather_rank(piece), first_gather_lane(piece));
    step.from = Peer::at(gather_rank(piece), first_gather_lane(piece) + answering_lane(piece, rank));
    return step;
  }

  [[nodiscard]] Step gather_step(Rank rank, const GatherLane& at, std::int64_t index) const {
    const std::int64_t size = cut_.size(at.piece);
    const std::int64_t base = scratch_before(rank, at.piece);
    const Range sum =
        contributes(rank) ? piece_range(at.piece) : Range{Buffer::kScratch, base + size * inputs(rank), size};
    Step step;
    if (at.lane == 0 && index < inputs(rank)) {
      step.kind = StepKind::kReceiveAny;
      step.target = {Buffer::kScratch, base, size};
      step.stride = size;
    } else if (at.lane == 0) {
      step.kind = StepKind::kReduce;
      step.source = {Buffer::kScratch, base, size};
      step.target = sum;
      step.inputs = inputs(rank);
      step.stride = size;
      step.accumulate = contributes(rank);
    } else {
      const Rank contributor = answered(at.piece, at.lane);
      step.kind = StepKind::kSend;
      step.source = sum;
      step.to = Peer::at(contributor, lane_of_piece(contributor, at.piece));
      step.wait = {first_gather_lane(at.piece), inputs(rank) + 1};
    }
    return step;
  }

  std::int32_t ranks_;
  std::int32_t n_;
  std::vector<Rank> gather_;
  RaggedCut cut_;
  Engine contributor_engine_;
  Engine gather_engine_;
};

}  // namespace

std::unique_ptr<Schedule> shuffle_all_reduce(std::int32_t ranks, std::int32_t contributors,
                                             std::vector<Rank> gather_ranks, std::int64_t elements,
                                             Engine contributor_engine, Engine gather_engine) {
  return std::make_unique<Shuffle>(ranks, contributors, std::move(gather_ranks), elements, contributor_engine,
                                   gather_engine);
}

}  // namespace tutti::core
