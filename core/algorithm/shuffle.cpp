// A shuffle all-reduce gathers every piece on one rank, sums it there and returns the sum. All
// steps are computed on request, so the difficult part is the numbering of lanes. A contributor has
// one lane per piece, which sends the piece and receives the sum. A gather rank has 1 + n lanes for
// each piece that it gathers. Lane 0 collects the inputs and reduces them. Each of the lanes 1 to n
// waits for lane 0 and then sends the sum to one contributor. Each rank numbers its lanes with a
// different rotation, so that ranks do not all begin with the same peer. lane_of_piece() and
// answering_lane() invert the numbering, so that each rank can compute its peer's lane. by_rank_
// and places_ locate the lanes and the scratch buffer of a rank that gathers several pieces.

#include "core/algorithm/shuffle.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class Shuffle : public Schedule {
 public:
  Shuffle(std::int32_t ranks, std::int32_t contributors, std::vector<Rank> gather_ranks,
          std::int64_t elements, Engine contributor_engine, Engine gather_engine,
          std::int64_t input_shift)
      : ranks_(ranks),
        n_(contributors),
        gather_(std::move(gather_ranks)),
        cut_{elements, static_cast<std::int64_t>(gather_.size())},
        contributor_engine_(contributor_engine),
        gather_engine_(gather_engine),
        input_shift_(input_shift) {
    TUTTI_CHECK(n_ >= 1 && n_ <= ranks_ && !gather_.empty() && elements >= 0,
                "{} of {} ranks contribute, and {} ranks gather", n_, ranks_, gather_.size());
    for (const Rank r : gather_)
      TUTTI_CHECK(r >= 0 && r < ranks_, "gather rank {} of {}", r, ranks_);
    by_rank_.resize(gather_.size());
    std::iota(by_rank_.begin(), by_rank_.end(), 0);
    std::stable_sort(by_rank_.begin(), by_rank_.end(), [this](std::int32_t a, std::int32_t b) {
      return gather_rank(a) < gather_rank(b);
    });
    places_.resize(gather_.size());
    // The pieces of a rank are consecutive in by_rank_, so a piece's lanes and scratch range begin
    // where those of the rank's previous piece end.
    for (std::size_t i = 0; i < by_rank_.size(); ++i) {
      if (i == 0 || gather_rank(by_rank_[i - 1]) != gather_rank(by_rank_[i])) continue;
      const PieceOffset& before = place_of(by_rank_[i - 1]);
      places_[by_rank_[i]] = {before.earlier + 1, scratch_end(by_rank_[i - 1])};
    }
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return contributor_lanes(rank) +
           static_cast<std::int32_t>(pieces_at(rank).size()) * gather_lanes();
  }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (lane < contributor_lanes(rank)) {
      const std::int64_t piece = piece_on(rank, lane);
      return cut_.size(piece) == 0 || gather_rank(piece) == rank ? 0 : 2;
    }
    const GatherLane at = gather_lane(rank, lane);
    if (cut_.size(at.piece) == 0) return 0;
    if (at.lane == 0) return sum_steps(rank);
    return answered(at.piece, at.lane) == rank ? 0 : 1;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return lane < contributor_lanes(rank) ? contributor_step(rank, lane, index)
                                          : gather_step(rank, gather_lane(rank, lane), index);
  }

  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    const std::span<const std::int32_t> gathered = pieces_at(rank);
    return gathered.empty() ? 0 : scratch_end(gathered.back());
  }

  [[nodiscard]] Engine engine(Rank rank, Lane lane) const override {
    return lane < contributor_lanes(rank) ? contributor_engine_ : gather_engine_;
  }

  /// A gather rank does not send to itself. The arrival slots of senders with a higher rank are
  /// therefore lower by one.
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane, Rank sender) const override {
    return contributes(rank) && sender > rank ? sender - 1 : sender;
  }

 private:
  /// Identifies a lane of a gather rank by the piece and by the lane's index among the lanes of
  /// this piece. Lane 0 collects and sums; lanes 1 … n return the sum.
  struct GatherLane {
    std::int64_t piece = 0;
    Lane lane = 0;
  };

  [[nodiscard]] bool contributes(Rank rank) const { return rank < n_; }
  [[nodiscard]] std::int32_t pieces() const { return static_cast<std::int32_t>(gather_.size()); }
  [[nodiscard]] Rank gather_rank(std::int64_t piece) const { return gather_[piece]; }
  [[nodiscard]] std::int32_t contributor_lanes(Rank rank) const {
    return contributes(rank) ? pieces() : 0;
  }
  [[nodiscard]] std::int32_t gather_lanes() const { return 1 + n_; }
  /// The number of messages that a gather rank receives for each of its pieces.
  [[nodiscard]] std::int32_t inputs(Rank rank) const { return n_ - (contributes(rank) ? 1 : 0); }
  /// If the collective is out of place, a gather rank first copies its own contribution to the
  /// range where it will compute the sum.
  [[nodiscard]] std::int64_t copies(Rank rank) const {
    return input_shift_ != 0 && contributes(rank) ? 1 : 0;
  }
  /// Returns the number of steps of the lane that collects and sums a piece.
  [[nodiscard]] std::int64_t sum_steps(Rank rank) const {
    return copies(rank) + (inputs(rank) > 0 ? inputs(rank) + 1 : 0);
  }
  [[nodiscard]] Range piece_range(std::int64_t piece) const {
    return {Buffer::kData, cut_.offset(piece), cut_.size(piece)};
  }

  /// The position of a piece on its gather rank: the number of earlier pieces of this rank, and the
  /// number of scratch elements that they use.
  struct PieceOffset {
    std::int32_t earlier = 0;
    std::int64_t scratch = 0;
  };

  /// Returns the pieces that `rank` gathers, in ascending order.
  [[nodiscard]] std::span<const std::int32_t> pieces_at(Rank rank) const {
    const auto first =
        std::lower_bound(by_rank_.begin(), by_rank_.end(), rank,
                         [this](std::int32_t piece, Rank r) { return gather_rank(piece) < r; });
    auto last = first;
    while (last != by_rank_.end() && gather_rank(*last) == rank) ++last;
    return {first, last};
  }
  [[nodiscard]] const PieceOffset& place_of(std::int64_t piece) const { return places_[piece]; }

  [[nodiscard]] GatherLane gather_lane(Rank rank, Lane lane) const {
    lane -= contributor_lanes(rank);
    return {pieces_at(rank)[lane / gather_lanes()], lane % gather_lanes()};
  }

  /// Returns the first of the lanes on which `piece` is gathered.
  [[nodiscard]] Lane first_gather_lane(std::int64_t piece) const {
    return contributor_lanes(gather_rank(piece)) + place_of(piece).earlier * gather_lanes();
  }

  /// Returns the end of a piece's scratch range. A piece's range has space for the input of each
  /// contributor. A helper needs space for the sum as well, because it has no data buffer.
  [[nodiscard]] std::int64_t scratch_end(std::int64_t piece) const {
    const Rank rank = gather_rank(piece);
    return place_of(piece).scratch +
           cut_.size(piece) * (inputs(rank) + (contributes(rank) ? 0 : 1));
  }

  /// Returns the piece on lane 0 of contributor `rank`. A rank that gathers pieces begins with the
  /// first of them. Any other rank begins with piece `rank` modulo the number of pieces, to balance
  /// the load of the gather ranks.
  [[nodiscard]] std::int64_t first_piece(Rank rank) const {
    const std::span<const std::int32_t> own = pieces_at(rank);
    return own.empty() ? rank % pieces() : own.front();
  }
  [[nodiscard]] std::int64_t piece_on(Rank rank, Lane lane) const {
    return (first_piece(rank) + lane) % pieces();
  }
  [[nodiscard]] Lane lane_of_piece(Rank rank, std::int64_t piece) const {
    return static_cast<Lane>((piece - first_piece(rank) + pieces()) % pieces());
  }
  /// Returns the contributor to which one of the lanes 1 … n sends the sum of a piece. Lane 1 sends
  /// to a different contributor for each piece.
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
    step.source.offset += input_shift_;
    step.to = Peer::at(gather_rank(piece), first_gather_lane(piece));
    step.from =
        Peer::at(gather_rank(piece), first_gather_lane(piece) + answering_lane(piece, rank));
    return step;
  }

  [[nodiscard]] Step gather_step(Rank rank, const GatherLane& at, std::int64_t index) const {
    const std::int64_t size = cut_.size(at.piece);
    const std::int64_t base = place_of(at.piece).scratch;
    const Range sum = contributes(rank) ? piece_range(at.piece)
                                        : Range{Buffer::kScratch, base + size * inputs(rank), size};
    Step step;
    if (at.lane == 0 && index < copies(rank)) {
      step.kind = StepKind::kCopy;
      step.source = step.target = sum;
      step.source.offset += input_shift_;
      return step;
    }
    index -= copies(rank);
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
      step.wait = {first_gather_lane(at.piece), sum_steps(rank)};
    }
    return step;
  }

  std::int32_t ranks_;
  std::int32_t n_;
  std::vector<Rank> gather_;           ///< for each piece: the rank that gathers it
  std::vector<std::int32_t> by_rank_;  ///< pieces, sorted by the rank that gathers them
  std::vector<PieceOffset> places_;    ///< place of each piece
  RaggedCut cut_;
  Engine contributor_engine_;
  Engine gather_engine_;
  std::int64_t input_shift_;
};

}  // namespace

std::unique_ptr<Schedule> shuffle_all_reduce(std::int32_t ranks, std::int32_t contributors,
                                             std::vector<Rank> gather_ranks, std::int64_t elements,
                                             Engine contributor_engine, Engine gather_engine,
                                             std::int64_t input_shift) {
  return std::make_unique<Shuffle>(ranks, contributors, std::move(gather_ranks), elements,
                                   contributor_engine, gather_engine, input_shift);
}

}  // namespace tutti::core
