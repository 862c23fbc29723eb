// Explains why a measured training step took another time than predicted. Each of several
// independent checks looks for one cause: packs outside their error band, choices of NCCL that were
// not predicted, ranks that start late, idle devices, and computation that is slower during
// collectives. A check computes an upper bound of its cause's effect on the step time. The effects
// may overlap, so they are ranked and not added. Effects of less than 1 % of the step time are not
// reported. The difficulty is to separate waiting from transfer. The kernel of a collective starts
// when its own rank calls the collective. The kernel occupies the device until the last rank has
// called the collective and the data is transferred. The shortest kernel of all ranks therefore
// shows the transfer time, and the difference between the first and the last start shows the
// waiting time. Medians over the training steps are used, so that single disturbances have no
// effect.

#include "core/import/differences.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/base/median.h"
#include "core/import/intervals.h"

namespace tutti::core {
namespace {

/// Differences whose effect is less than this share of the step time are not reported.
constexpr double kMinReportedShare = 0.01;
/// The relative error band that is assumed for predictions that have none.
constexpr double kDefaultBand = 0.2;

std::string shown(std::int64_t ns) { return show(nanoseconds(std::max<std::int64_t>(0, ns))); }

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class Differences {
 public:
  Differences(const MeasuredRun& run, const StepModel& model, const Summary& predicted)
      : run_(run), model_(model), predicted_(predicted) {}

  std::vector<Difference> find() {
    collect_packs();
    look_at_packs();
    look_at_ranks();
    look_at_gaps();
    look_at_overlap();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Difference& a, const Difference& b) { return a.effect > b.effect; });
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool matters(std::int64_t ns) const {
    return static_cast<double>(ns) >= kMinReportedShare * static_cast<double>(model_.step_ns);
  }
  void add(Difference::Kind kind, std::string what, std::string evidence, std::int64_t ns) {
    found_.push_back(
        {kind, std::move(what), std::move(evidence), nanoseconds(std::max<std::int64_t>(0, ns))});
  }

  /// The execution of one pack in one training step, on all ranks whose traces were read.
  struct Execution {
    std::vector<std::int64_t> ranks, starts, durations;
  };

  /// Identifies a collective that is not a pack: the training step, the kind, the group, and the
  /// index among the collectives of the step for which these are the same.
  using ExchangeKey = std::tuple<std::int64_t, MeasuredKind, std::int32_t, std::int64_t>;

  void collect_packs() {
    for (const MeasuredRank& rank : run_.ranks) {
      std::map<ExchangeKey, std::int64_t> counted;
      for (const MeasuredCollective& c : rank.collectives) {
        if (c.pack < 0 && c.step >= 0 && c.duration_ns >= 0 && c.kind != MeasuredKind::kSend &&
            c.kind != MeasuredKind::kReceive) {
          ExchangeKey key{rank.steps[c.step].number, c.kind, c.group, 0};
          std::get<3>(key) = counted[key]++;
          Execution& one = exchanges_[key];
          one.ranks.push_back(rank.rank);
          one.starts.push_back(c.start_ns);
        }
        if (c.pack < 0 || c.step < 0 || c.duration_ns < 0) continue;
        Execution& one = packs_[{c.pack, rank.steps[c.step].number}];
        one.ranks.push_back(rank.rank);
        one.starts.push_back(c.start_ns);
        one.durations.push_back(c.duration_ns);
      }
    }
  }

  // --- packs ---

  void look_at_packs() {
    const std::vector<PackRecord> last = predicted_.last_packs();
    const auto& infos = predicted_.info().packs;
    if (infos.size() != model_.packs.size()) {
      add(Difference::Kind::kPacks,
          fmt::format("the run has {} packs per step, but the prediction has {}",
                      model_.packs.size(), infos.size()),
          "packs are compared individually only if both have the same number of packs", 0);
      return;
    }
    for (std::size_t p = 0; p < infos.size(); ++p) {
      const auto record = std::find_if(last.begin(), last.end(), [&](const PackRecord& r) {
        return r.pack == static_cast<std::int32_t>(p);
      });
      if (record != last.end()) look_at_pack(p, infos[p], record->end - record->last_start);
    }
  }

  void look_at_pack(std::size_t p, const RunInfo::PackInfo& info, Time predicted) {
    std::vector<std::int64_t> least, all;
    for (const auto& [key, one] : packs_) {
      if (key.first != static_cast<std::int32_t>(p)) continue;
      least.push_back(*std::min_element(one.durations.begin(), one.durations.end()));
      all.insert(all.end(), one.durations.begin(), one.durations.end());
    }
    if (least.empty()) return;
    const std::int64_t measured = upper_median(least);
    const auto expected = static_cast<double>(predicted.count()) / 1e3;
    const double low = info.band_low > 0 ? info.band_low : 1 - kDefaultBand;
    const double high = info.band_high > 0 ? info.band_high : 1 + kDefaultBand;
    const bool outside = static_cast<double>(measured) > expected * high ||
                         static_cast<double>(measured) < expected * low;
    const std::int64_t by = measured - static_cast<std::int64_t>(expected);
    if (outside && matters(std::abs(by))) {
      const bool longer = by > 0;
      add(Difference::Kind::kCollective,
          fmt::format("pack {} ({}) takes {}, {} {} than predicted{}", p, show(info.bytes),
                      shown(measured), shown(std::abs(by)), longer ? "longer" : "less",
                      longer && run_.ranks.size() < 2
                          ? "; the trace of a single rank does not distinguish waiting for a late "
                            "rank from transfer"
                          : ""),
          fmt::format("predicted {} ({} to {} in 8 of 10 cases); the measured time is the {} over "
                      "{} executions; the median over all ranks is {}",
                      show(predicted), shown(static_cast<std::int64_t>(expected * low)),
                      shown(static_cast<std::int64_t>(expected * high)),
                      run_.ranks.size() < 2 ? "median" : "median of the fastest rank's times",
                      least.size(), shown(upper_median(all))),
          std::abs(by));
    }
    look_at_choice(p, info, std::abs(by));
  }

  /// Compares NCCL's predicted choice ("Ring LL128, 24 channels × 640 threads") with the choice
  /// that the kernel's name records.
  void look_at_choice(std::size_t p, const RunInfo::PackInfo& info, std::int64_t by) {
    const StepModel::Pack& pack = model_.packs[p];
    if (info.nccl.empty() || pack.algorithm.empty()) return;
    const std::string predicted = lower(info.nccl.substr(0, info.nccl.find(',')));
    const std::string measured =
        pack.algorithm + (pack.protocol.empty() ? "" : " " + pack.protocol);
    const bool same =
        pack.protocol.empty() ? predicted.starts_with(measured + " ") : predicted == measured;
    if (same) return;
    add(Difference::Kind::kChoice,
        fmt::format("NCCL executed pack {} with {}, but {} was predicted", p, measured, predicted),
        fmt::format("executed according to the trace: {}{}; predicted: {}", measured,
                    pack.channels > 0 ? fmt::format(", {} channels", pack.channels) : "",
                    info.nccl),
        by);
  }

  // --- ranks ---

  void look_at_ranks() {
    if (run_.ranks.size() < 2) return;
    // For each rank, the number of collectives that it started last.
    std::map<std::int64_t, std::int64_t> last_of;
    // For each training step, the largest skew of its packs.
    std::map<std::int64_t, std::int64_t> skew_of_step;
    std::int64_t executions = 0;
    const auto look_at = [&](const Execution& one, std::int64_t step) {
      if (one.starts.size() < 2 ||
          std::any_of(one.starts.begin(), one.starts.end(), [](auto t) { return t < 0; }))
        return;
      const auto last = std::max_element(one.starts.begin(), one.starts.end());
      const std::int64_t spread = *last - *std::min_element(one.starts.begin(), one.starts.end());
      std::int64_t& skew = skew_of_step[step];
      skew = std::max(skew, spread);
      if (spread == 0) return;
      ++last_of[one.ranks[last - one.starts.begin()]];
      ++executions;
    };
    for (const auto& [key, one] : packs_) look_at(one, key.second);
    for (const auto& [key, one] : exchanges_) {
      // If the trace does not state the group of an exchange, assume that all ranks take part.
      if (std::get<2>(key) >= 0 || one.starts.size() == run_.ranks.size())
        look_at(one, std::get<0>(key));
    }
    if (executions == 0) return;
    std::vector<std::int64_t> skews;
    for (const auto& [step, skew] : skew_of_step) skews.push_back(skew);
    const std::int64_t skew = upper_median(skews);
    if (!matters(skew)) return;
    const auto most =
        std::max_element(last_of.begin(), last_of.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool one_rank = 2 * most->second > executions;
    add(Difference::Kind::kLateRank,
        one_rank
            ? fmt::format("the other ranks wait up to {} per step for rank {}", shown(skew),
                          most->first)
            : fmt::format(
                  "ranks wait up to {} per step for each other, but not for any rank in particular",
                  shown(skew)),
        fmt::format("rank {} is the last to start a collective in {} of {} cases; the wait in a "
                    "step is the largest difference between the ranks' start times of a "
                    "collective, and the stated wait is the median over {} steps",
                    most->first, most->second, executions, skews.size()),
        skew);
  }

  // --- devices ---

  struct Idle {
    std::int64_t all = 0, forward = 0, gaps = 0;
  };
  static Idle idle_of(const std::vector<Interval>& busy, const MeasuredStep& step) {
    Idle idle;
    idle.all = step.end_ns - step.start_ns - covered(busy, nullptr, step.start_ns, step.end_ns);
    if (step.backward_ns >= step.start_ns && step.backward_ns <= step.end_ns)
      idle.forward = step.backward_ns - step.start_ns -
                     covered(busy, nullptr, step.start_ns, step.backward_ns);
    auto next = std::lower_bound(busy.begin(), busy.end(), step.start_ns,
                                 [](const Interval& b, std::int64_t t) { return b.end <= t; });
    std::int64_t at = step.start_ns;
    for (; next != busy.end() && next->start < step.end_ns; ++next) {
      if (next->start > at) ++idle.gaps;
      at = next->end;
    }
    if (at < step.end_ns) ++idle.gaps;
    return idle;
  }

  void look_at_gaps() {
    std::vector<std::int64_t> all, forward, gaps;
    for (const MeasuredRank& rank : run_.ranks) {
      std::vector<Interval> busy;
      for (const MeasuredCompute& c : rank.compute) busy.push_back({c.start_ns, c.end_ns});
      if (busy.empty()) continue;
      for (const MeasuredCollective& c : rank.collectives)
        if (c.start_ns >= 0 && c.end_ns >= 0) busy.push_back({c.start_ns, c.end_ns});
      busy = united(std::move(busy));
      for (const MeasuredStep& step : rank.steps) {
        const Idle idle = idle_of(busy, step);
        all.push_back(idle.all);
        forward.push_back(idle.forward);
        gaps.push_back(idle.gaps);
      }
    }
    const std::int64_t idle = upper_median(all);
    if (all.empty() || !matters(idle)) return;
    const std::int64_t count = upper_median(gaps);
    add(Difference::Kind::kHostGap,
        fmt::format("the GPU is idle for {} in a step of {}, while no collective is in flight: the "
                    "host launches kernels more slowly than the GPU executes them",
                    shown(idle), shown(model_.step_ns)),
        fmt::format("medians over {} steps of all ranks: {} gaps per step, {} per gap, and {} of "
                    "idle time in the forward pass; the prediction contains these gaps",
                    all.size(), show_count(count), shown(idle / std::max<std::int64_t>(1, count)),
                    shown(upper_median(forward))),
        idle);
  }

  /// Finds out whether collectives slow down computation. For each layer, compares its time while a
  /// collective was in flight with its time in steps without one.
  void look_at_overlap() {
    struct Layer {
      std::vector<std::int64_t> alone, beside;
    };
    std::map<std::int32_t, Layer> layers;
    for (const MeasuredRank& rank : run_.ranks) {
      std::vector<Interval> flights;
      for (const MeasuredCollective& c : rank.collectives)
        if (c.start_ns >= 0 && c.end_ns >= 0) flights.push_back({c.start_ns, c.end_ns});
      flights = united(std::move(flights));
      struct Sum {
        std::int64_t time = 0, beside = 0;
      };
      std::map<std::pair<std::int32_t, std::int32_t>, Sum> sums;  // indexed by step and layer
      for (const MeasuredCompute& c : rank.compute) {
        if (c.layer < 0 || c.step < 0) continue;
        Sum& sum = sums[{c.step, c.layer}];
        sum.time += c.end_ns - c.start_ns;
        sum.beside += covered(flights, nullptr, c.start_ns, c.end_ns);
      }
      for (const auto& [key, sum] : sums) {
        if (sum.time <= 0) continue;
        const double share = static_cast<double>(sum.beside) / static_cast<double>(sum.time);
        if (share < 0.1) layers[key.second].alone.push_back(sum.time);
        if (share > 0.5) layers[key.second].beside.push_back(sum.time);
      }
    }
    std::int64_t alone = 0, beside = 0, compared = 0;
    for (const auto& [layer, times] : layers) {
      if (times.alone.empty() || times.beside.empty()) continue;
      alone += upper_median(times.alone);
      beside += upper_median(times.beside);
      ++compared;
    }
    if (compared == 0 || !matters(beside - alone)) return;
    add(Difference::Kind::kOverlap,
        fmt::format("computation is {:.1f} % slower while collectives are in flight",
                    100 * (static_cast<double>(beside) / static_cast<double>(alone) - 1)),
        fmt::format("{} layers of the backward pass take {} in total while collectives are in "
                    "flight, and {} in total otherwise",
                    compared, shown(beside), shown(alone)),
        beside - alone);
  }

  const MeasuredRun& run_;
  const StepModel& model_;
  const Summary& predicted_;
  /// The executions; the key is the pack number and the training step.
  std::map<std::pair<std::int32_t, std::int64_t>, Execution> packs_;
  std::map<ExchangeKey, Execution> exchanges_;
  std::vector<Difference> found_;
};

}  // namespace

std::string_view to_string(Difference::Kind kind) {
  switch (kind) {
    case Difference::Kind::kCollective: return "collective";
    case Difference::Kind::kLateRank: return "late-rank";
    case Difference::Kind::kHostGap: return "host-gap";
    case Difference::Kind::kOverlap: return "overlap";
    case Difference::Kind::kChoice: return "nccl-choice";
    case Difference::Kind::kPacks: return "packs";
  }
  return "";
}

std::vector<Difference> differences(const MeasuredRun& run, const StepModel& model,
                                    const Summary& predicted) {
  return Differences(run, model, predicted).find();
}

}  // namespace tutti::core
