#include "tools/tutti/synthesis/ranking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/strategy/algorithm.h"

namespace tutti::tools {
namespace {

constexpr std::int64_t kMaxPieces = 512;
/// The maximum number of schedule steps over all ranks in one simulation, which takes some seconds.
constexpr std::int64_t kMaxSteps = 3'000'000;
/// The minimum size in bytes of a piece, which is a part of a chunk. With smaller pieces, the costs
/// of additional messages exceed the gain from pipelining.
constexpr std::int64_t kMinPieceBytes = 4096;
/// The assumed fixed cost of a schedule step in microseconds, for the first guess of the number of
/// pieces.
constexpr double kStepUs = 4;

std::int64_t chunks_of(const core::synthesis::Forest& forest) {
  std::int64_t parts = 0;
  for (const std::int64_t own : forest.contributions) parts += own;
  return parts * forest.trees;
}

std::int64_t max_pieces(const core::synthesis::SwitchSums& sums, core::Bytes bytes) {
  const std::int64_t ranks = std::int64_t{sums.nodes} * sums.gpus;
  const std::int64_t steps = ranks * (2 * sums.nodes + sums.gpus);
  return std::clamp<std::int64_t>(
      std::min(kMaxSteps / steps, bytes.count() / ranks / kMinPieceBytes), 1, kMaxPieces);
}

std::int64_t max_pieces(const core::synthesis::Forest& forest, core::Bytes bytes) {
  const auto trees = static_cast<std::int64_t>(forest.all.size());
  const std::int64_t steps = 2 * trees * forest.ranks;
  return std::clamp<std::int64_t>(
      std::min(kMaxSteps / steps, bytes.count() / chunks_of(forest) / kMinPieceBytes), 1,
      kMaxPieces);
}

/// Returns a power of two below the best number of pieces. If all bytes take the time T, and each
/// step takes an additional time a, P pieces that pass D ranks in sequence take (P + D) · (T / P +
/// a). The minimum is at P = √(D T / a).
std::int64_t first_guess(int depth, core::Time bound) {
  const double pieces = std::sqrt(depth * core::to_us(bound) / kStepUs);
  std::int64_t guess = 1;
  while (2 * guess <= static_cast<std::int64_t>(pieces / 2)) guess *= 2;
  return guess;
}

}  // namespace

core::Expected<std::optional<RankedSchedule>> rank(const SynthesisSubject& subject,
                                                   core::synthesis::Candidate candidate,
                                                   core::Time bound,
                                                   const core::RunControl& control) {
  std::optional<RankedSchedule> best;
  bool stopped = false;
  // Simulates the candidate with this number of pieces. Returns true if this is the best result so
  // far.
  const auto try_with = [&](std::int64_t pieces) -> core::Expected<bool> {
    core::synthesis::TextOptions options;
    options.pieces = pieces;
    const auto time = subject.time_of_text(text_of(candidate, subject.kind(), options), control);
    if (!time) return failed(time);
    stopped = !*time;
    if (stopped || (best && **time >= best->time)) return false;
    best = RankedSchedule{candidate, pieces, **time, false};
    return true;
  };
  std::int64_t most = 1;
  std::int64_t first = 1;
  if (candidate.forest) {
    most = max_pieces(*candidate.forest, subject.bytes());
    first = std::min(most, first_guess(candidate.forest->depth(), bound));
  } else if (candidate.switch_sums) {
    most = max_pieces(*candidate.switch_sums, subject.bytes());
    first = std::min(most, first_guess(2 * candidate.switch_sums->nodes, bound));
  }
  if (const auto good = try_with(first); !good) return failed(good);
  for (const bool up : {true, false}) {
    for (std::int64_t pieces = up ? first * 2 : first / 2;
         !stopped && pieces >= 1 && pieces <= most; pieces = up ? pieces * 2 : pieces / 2) {
      const auto good = try_with(pieces);
      if (!good) return failed(good);
      if (!*good) break;
    }
    if (best && best->pieces > first) break;  // more pieces were better, so fewer are not
  }
  return best;
}

std::vector<RankedBuiltIn> rank_built_in(const SynthesisSubject& subject,
                                         const core::RunControl& control) {
  std::vector<RankedBuiltIn> ranked;
  for (const std::string& name : core::algorithm_names()) {
    const auto time = subject.time_of_built_in(name, control);
    if (time && *time) ranked.push_back({name, **time});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return ranked;
}

}  // namespace tutti::tools
