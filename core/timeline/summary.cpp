// The first part of this file averages the records of a run. The first training step is omitted
// unless it is the only one. The second part of this file describes the critical path in words. A
// path may have thousands of pieces, such as one for each layer, so consecutive pieces that one
// sentence can describe are grouped. A group is a forward pass, a backward pass with its copies
// into packs, consecutive packs in flight, or the work after packs have arrived. With
// micro-batches, forward and backward passes alternate, and the passes of all micro-batches except
// the last form one group. Every piece belongs to exactly one group. The path itself is computed by
// the executor.

#include "core/timeline/summary.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"

namespace tutti::core {

void Summary::Totals::add(const StepRecord& step) {
  ++steps;
  for (std::size_t p = 0; p < kParts.size(); ++p) parts[p] += (step.*kParts[p]).count();
  if (step.awaited.empty()) return;
  OfDevice& device = awaited[step.awaited];
  device.waited += step.awaited_for;
  ++device.steps;
  waited += step.awaited_for;
}

void Summary::step(const StepRecord& step) {
  const auto length = [](const StepRecord& s) { return s.end - s.start; };
  if (step_count_ > 0) {
    after_first_.add(step);
    if (length(step) != length(steps_.back())) constant_from_ = step_count_;
  }
  ++step_count_;
  if (steps_.size() < kMaxListedSteps) {
    steps_.push_back(step);
  } else {
    steps_.back() = step;
  }
  packs_.erase(packs_.begin(), packs_.lower_bound(step.step));
}

void Summary::pack(const PackRecord& pack) {
  if (!steps_.empty() && pack.step < steps_.back().step) return;
  packs_[pack.step].push_back(pack);
}

Time Summary::step_time() const {
  if (steps_.empty()) return {};
  if (steady_) return steady_->step_time;
  if (step_count_ == 1) return steps_[0].end - steps_[0].start;
  return Time((steps_.back().end - steps_.front().end).count() / (step_count_ - 1));
}

std::pair<std::size_t, std::size_t> Summary::steady_steps() const {
  const std::size_t all = steps_.size();
  if (!steady_) return {0, all};
  // The slowest worker may have completed fewer training steps than there are rounds.
  const std::size_t first =
      std::min(static_cast<std::size_t>(steady_->first_step), all > 1 ? all - 1 : 0);
  return {first,
          std::clamp(static_cast<std::size_t>(steady_->end_step), std::min(first + 1, all), all)};
}

Summary::Totals Summary::steady_totals() const {
  if (!steady_ && step_count_ > 1) return after_first_;
  Totals totals;
  const auto [first, end] = steady_steps();
  for (std::size_t s = first; s < end; ++s) totals.add(steps_[s]);
  return totals;
}

std::optional<StepParts> Summary::steady_parts() const {
  if (steps_.empty()) return std::nullopt;
  const Totals totals = steady_totals();
  const auto mean = [&](std::size_t part) {
    return Time(static_cast<std::int64_t>(totals.parts[part] / totals.steps));
  };
  StepParts parts;
  parts.time = step_time();
  parts.forward = mean(0);
  parts.backward = mean(1);
  parts.other_compute = mean(2);
  parts.communication = mean(3);
  parts.exposed = mean(4);
  parts.slowed = mean(5);
  return parts;
}

std::string Summary::steady_basis() const {
  if (steady_ && !steps_.empty())
    return fmt::format("mean of steps {} to {}", steady_->first_step, steady_->end_step - 1);
  switch (step_count_) {
    case 0: return "";
    case 1: return "the only step";
    case 2: return fmt::format("step {}", steps_[1].step);
    default: return fmt::format("mean of steps {} to {}", steps_[1].step, steps_.back().step);
  }
}

int Summary::steady_from() const {
  return constant_from_ + 1 < step_count_ ? static_cast<int>(constant_from_) : -1;
}

std::optional<Summary::Awaited> Summary::awaited() const {
  if (steps_.empty()) return std::nullopt;
  const Totals totals = steady_totals();
  if (totals.awaited.empty()) return std::nullopt;
  const auto most = std::max_element(
      totals.awaited.begin(), totals.awaited.end(),
      [](const auto& a, const auto& b) { return a.second.waited < b.second.waited; });
  return Awaited{most->first, most->second.steps, Time(totals.waited.count() / totals.steps),
                 static_cast<int>(totals.steps)};
}

std::vector<PackRecord> Summary::last_packs() const {
  if (steps_.empty()) return {};
  const auto last = packs_.find(steps_.back().step);
  if (last == packs_.end()) return {};
  std::vector<PackRecord> packs = last->second;
  std::sort(packs.begin(), packs.end(),
            [](const PackRecord& a, const PackRecord& b) { return a.pack < b.pack; });
  return packs;
}

std::vector<LinkRecord> Summary::busiest_links(std::size_t most) const {
  std::vector<std::size_t> order(links_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + std::min(most, order.size());
  std::partial_sort(order.begin(), end, order.end(), [this](std::size_t a, std::size_t b) {
    return links_[a].busy != links_[b].busy ? links_[a].busy > links_[b].busy : a < b;
  });
  std::vector<LinkRecord> links;
  links.reserve(end - order.begin());
  for (auto i = order.begin(); i != end; ++i) links.push_back(links_[*i]);
  return links;
}

namespace {

bool is(const PathPiece& piece, ComputeKind kind) {
  return piece.kind == SpanKind::kFirstCompute + static_cast<std::int32_t>(kind);
}

/// Describes the parts of a duration, the largest first: "12.3 ms transfer over network links, 1.1
/// ms link latency, …".
std::string in_words(const Breakdown& parts) {
  std::vector<std::pair<std::string, Time>> named = named_parts(parts);
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, time] : named) {
    if (time > Time()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", show(time), name);
  }
  return text;
}

bool is_exchange(const PathPiece& piece) { return piece.kind == SpanKind::kExchange; }

/// True if one sentence may describe both pieces: they are on the same device, or at least one of
/// them is an exchange.
bool hang_together(const PathPiece& a, const PathPiece& b) {
  return a.device == b.device || is_exchange(a) || is_exchange(b);
}

/// Returns the index of the last forward pass in a series of alternating forward and backward
/// passes; `first` if no other forward pass follows.
std::size_t last_forward_pass(const std::vector<PathPiece>& path, std::size_t first) {
  std::size_t last = first;
  if (!is(path[first], ComputeKind::kForward)) return last;
  bool after_backward = false;
  for (std::size_t i = first + 1; i < path.size() && hang_together(path[i - 1], path[i]); ++i) {
    if (is(path[i], ComputeKind::kHostGap)) continue;
    if (is(path[i], ComputeKind::kForward)) {
      if (std::exchange(after_backward, false)) last = i;
    } else if (is(path[i], ComputeKind::kBackward)) {
      after_backward = true;
    } else if (!is_exchange(path[i])) {
      break;
    }
  }
  return last;
}

/// Returns the index of the first piece from `first` on that is no host gap, on the same device;
/// `first` if another device follows.
std::size_t after_gaps(const std::vector<PathPiece>& path, std::size_t first) {
  std::size_t i = first;
  while (is(path[i], ComputeKind::kHostGap) && i + 1 < path.size()) {
    if (!hang_together(path[i], path[i + 1])) return first;
    ++i;
  }
  return i;
}

/// Describes the host gaps among the pieces. Empty if there are none.
std::string report_gaps(std::span<const PathPiece> pieces) {
  Time time;
  std::int64_t count = 0;
  for (const PathPiece& piece : pieces) {
    if (!is(piece, ComputeKind::kHostGap)) continue;
    time += piece.end - piece.start;
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("; {} of this time in {} host gap{}, in which the device waits for kernels",
                     show(time), count, count == 1 ? "" : "s");
}

/// Returns the end of the group that begins at `first`. One sentence describes a group, such as a
/// backward pass with its copies, or consecutive packs.
std::size_t end_of_stretch(const std::vector<PathPiece>& path, std::size_t first) {
  const std::size_t begin = after_gaps(path, first);
  const bool forward = is(path[begin], ComputeKind::kForward),
             backward = is(path[begin], ComputeKind::kBackward);
  const auto goes_on = [&](const PathPiece& before, const PathPiece& piece) {
    if (is(piece, ComputeKind::kHostGap))
      return hang_together(before, piece) && (forward || backward);
    if (is_exchange(piece)) return forward || backward || is_exchange(path[first]);
    if (!hang_together(before, piece) && piece.kind != SpanKind::kPackInFlight) return false;
    if (backward)
      return is(piece, ComputeKind::kBackward) || is(piece, ComputeKind::kCopyIn) ||
             is(piece, ComputeKind::kConvert);
    const auto ends_pack = [](const PathPiece& p) {
      return is(p, ComputeKind::kCopyOut) || is(p, ComputeKind::kConvertBack) ||
             is(p, ComputeKind::kUpdate);
    };
    if (ends_pack(path[first])) return ends_pack(piece);
    return piece.kind == path[first].kind;
  };
  std::size_t end = begin + 1;
  while (end < path.size() && goes_on(path[end - 1], path[end])) ++end;
  // A gap at the end belongs to the computation that follows it.
  while (end > begin + 1 && is(path[end - 1], ComputeKind::kHostGap)) --end;
  return end;
}

/// Describes the exchanges among the pieces: "; 4.5 ms of it for 48 exchanges (tensor): 3.1 ms
/// transfer over nvlink links, …". Empty if there are no exchanges.
std::string report_exchanges(std::span<const PathPiece> pieces) {
  Time time;
  Breakdown parts;
  std::int64_t count = 0;
  std::vector<std::string> names;
  for (const PathPiece& piece : pieces) {
    if (!is_exchange(piece)) continue;
    time += piece.end - piece.start;
    parts += piece.parts;
    ++count;
    if (std::find(names.begin(), names.end(), piece.layer) == names.end())
      names.push_back(piece.layer);
  }
  if (count == 0) return "";
  return fmt::format("; {} of this time for {} exchange{} ({}): {}", show(time), count,
                     count == 1 ? "" : "s", fmt::join(names, ", "), in_words(parts));
}

/// Names the packs: "pack 3" or "5 packs, 3 to 7".
std::string which_packs(std::int32_t first, std::int32_t last, std::size_t count) {
  if (first < 0) return "all packs";
  return count == 1 ? fmt::format("pack {}", first)
                    : fmt::format("{} packs, {} to {}", count, first, last);
}

std::string report_packs(std::span<const PathPiece> pieces) {
  Breakdown parts;
  const PathPiece* slowest = &pieces.front();
  const PathPiece* queued = &pieces.front();
  for (const PathPiece& piece : pieces) {
    parts += piece.parts;
    if (piece.parts.total() > slowest->parts.total()) slowest = &piece;
    if (piece.queued_time > queued->queued_time) queued = &piece;
  }
  std::string text =
      which_packs(pieces.front().pack, pieces.back().pack, pieces.size()) + " in flight";
  if (pieces.size() > 1) text += ", one after the other";
  text += ": " + in_words(parts);
  if (!slowest->slowest_link.empty())
    text += fmt::format("; slowest link: {}", slowest->slowest_link);
  const bool matters = parts.queue > Time(parts.total().count() / 20);
  if (!queued->queued_at.empty() && matters)
    text += fmt::format("; longest wait at {}", queued->queued_at);
  return text;
}

/// Describes the work after the packs' collectives have ended: "update", "copies out of packs and
/// updates", ….
std::string ends_of_packs(std::span<const PathPiece> pieces) {
  const auto some = [&](ComputeKind kind) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const PathPiece& p) { return is(p, kind); });
  };
  std::vector<std::string> parts;
  if (some(ComputeKind::kConvertBack)) parts.emplace_back("conversions back");
  if (some(ComputeKind::kCopyOut)) parts.emplace_back("copies out of packs");
  if (some(ComputeKind::kUpdate)) parts.emplace_back("updates");
  if (parts.size() < 2) return span_name(pieces.front().kind);
  const std::string last = parts.back();
  parts.pop_back();
  return fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

std::string report_compute(std::span<const PathPiece> pieces) {
  const auto compute = std::find_if(pieces.begin(), pieces.end(), [](const PathPiece& piece) {
    return !is(piece, ComputeKind::kHostGap);
  });
  const PathPiece& first = compute == pieces.end() ? pieces.front() : *compute;
  if (is(first, ComputeKind::kHostGap))
    return fmt::format("host gap on {}: the device waits for the host to launch kernels",
                       first.device);
  if (is_exchange(first)) return "waiting for exchanges" + report_exchanges(pieces);
  if (is(first, ComputeKind::kForward)) {
    std::int64_t passes = 1;
    bool backward = false;
    for (const PathPiece& piece : pieces) {
      if (is(piece, ComputeKind::kForward) && std::exchange(backward, false)) ++passes;
      backward = backward || is(piece, ComputeKind::kBackward);
    }
    const std::string exchanges = report_exchanges(pieces);
    const std::string gaps = report_gaps(pieces);
    if (!backward) return "forward pass on " + first.device + gaps + exchanges;
    return fmt::format("forward and backward pass{} of {} micro-batch{} on {}{}{}",
                       passes == 1 ? "" : "es", passes, passes == 1 ? "" : "es", first.device, gaps,
                       exchanges);
  }
  if (!is(first, ComputeKind::kBackward)) {
    // The last piece may be one update for all packs, which has no pack number.
    std::size_t packs = 0;
    std::int32_t last = first.pack;
    for (const PathPiece& piece : pieces) {
      if (piece.kind == first.kind) ++packs;
      if (piece.pack >= 0) last = piece.pack;
    }
    const bool then_all = first.pack >= 0 && pieces.back().pack < 0;
    return fmt::format("{} ({}{}) on {}", ends_of_packs(pieces),
                       which_packs(first.pack, last, packs), then_all ? ", then all" : "",
                       first.device);
  }
  std::string text = "backward pass on " + first.device;
  Time copies, conversions;
  std::int64_t copied = 0;
  std::string layer;
  for (const PathPiece& piece : pieces) {
    if (!piece.layer.empty()) layer = piece.layer;
    if (is(piece, ComputeKind::kConvert)) conversions += piece.end - piece.start;
    if (!is(piece, ComputeKind::kCopyIn)) continue;
    copies += piece.end - piece.start;
    ++copied;
  }
  if (!layer.empty()) text += fmt::format(", until \"{}\" is done", layer);
  if (copied > 0)
    text += fmt::format("; {} of this time for copies into {} pack{}", show(copies), copied,
                        copied == 1 ? "" : "s");
  if (conversions > Time())
    text += fmt::format("; {} of this time for conversions", show(conversions));
  return text + report_gaps(pieces) + report_exchanges(pieces);
}

}  // namespace

std::vector<std::string> Summary::path_in_words() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < path_.size();) {
    const std::size_t last_forward = last_forward_pass(path_, i);
    const std::size_t end = last_forward > i ? last_forward : end_of_stretch(path_, i);
    const std::span<const PathPiece> pieces(path_.data() + i, end - i);
    const std::string length = show(pieces.back().end - pieces.front().start);
    const bool packs = pieces.front().kind == SpanKind::kPackInFlight;
    lines.push_back(length + ": " + (packs ? report_packs(pieces) : report_compute(pieces)));
    i = end;
  }
  return lines;
}

}  // namespace tutti::core
