// The times of the run, which are in nanoseconds, are converted to picoseconds since the earliest
// time of the run. On each rank, one track shows computation. Collectives that are in flight at the
// same time are on different tracks.

#include "core/import/timeline_of_run.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/base/version.h"
#include "core/import/intervals.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/step_parts.h"

namespace tutti::core {
namespace {

std::int32_t kind_of(MeasuredPhase phase) {
  const ComputeKind kind = phase == MeasuredPhase::kForward    ? ComputeKind::kForward
                           : phase == MeasuredPhase::kBackward ? ComputeKind::kBackward
                                                               : ComputeKind::kUpdate;
  return SpanKind::kFirstCompute + static_cast<std::int32_t>(kind);
}

std::string choice_text(const std::string& algorithm, const std::string& protocol,
                        std::int32_t channels) {
  std::string text = algorithm;
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 32);
  if (!protocol.empty()) {
    std::string upper = protocol;
    if (protocol != "simple")
      std::transform(upper.begin(), upper.end(), upper.begin(),
                     [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
    text += (text.empty() ? "" : " ") + upper;
  }
  if (channels > 0) text += fmt::format("{}{} channels", text.empty() ? "" : ", ", channels);
  return text;
}

class TimelineOfRun {
 public:
  TimelineOfRun(const MeasuredRun& run, const StepModel& model, TimelineSink& sink)
      : run_(run), sink_(sink), model_(model) {}

  Expected<void> write(const std::string& name) {
    if (auto found = find_times(); !found) return found;
    number_steps();
    number_packs();
    begin(name);
    for (const MeasuredRank& rank : run_.ranks) write_tracks(rank);
    for (const MeasuredRank& rank : run_.ranks) write_spans(rank);
    write_steps();
    write_packs();
    sink_.end();
    return {};
  }

 private:
  Expected<void> find_times() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(),
                 last = std::numeric_limits<std::int64_t>::min();
    const auto see = [&](std::int64_t start, std::int64_t end) {
      first = std::min(first, start);
      last = std::max(last, end);
    };
    for (const MeasuredRank& rank : run_.ranks) {
      for (const MeasuredStep& s : rank.steps) see(s.start_ns, s.end_ns);
      if (!rank.steps.empty()) continue;
      for (const MeasuredCompute& c : rank.compute) see(c.start_ns, c.end_ns);
      for (const MeasuredCollective& c : rank.collectives)
        if (c.start_ns >= 0 && c.end_ns >= c.start_ns) see(c.start_ns, c.end_ns);
    }
    if (first > last)
      return tl::make_unexpected(
          Error::request({ProblemCode::kMissing},
                         "these files have no start times, so no timeline can be written; write a "
                         "scenario (-o NAME.textproto) or measurements (-o NAME.log) instead"));
    constexpr std::int64_t kLongest = std::int64_t{50} * 86'400 * 1'000'000'000;
    if (last - first > kLongest)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kTooLarge}, "the records span more than 50 days; give files of one run"));
    origin_ = first;
    last_ = last;
    return {};
  }

  [[nodiscard]] Time at(std::int64_t ns) const {
    return nanoseconds(std::clamp(ns, origin_, last_) - origin_);
  }

  /// Assigns an index to each training step, so that steps with the same number have the same index
  /// on all ranks.
  void number_steps() {
    for (const MeasuredRank& rank : run_.ranks)
      for (const MeasuredStep& s : rank.steps) step_of_number_.emplace(s.number, 0);
    std::int32_t next = 0;
    for (auto& [number, step] : step_of_number_) step = next++;
  }
  [[nodiscard]] std::int32_t step_of(const MeasuredRank& rank, std::int32_t index) const {
    return index < 0 ? 0 : step_of_number_.at(rank.steps[index].number);
  }

  void number_packs() {
    for (const StepModel::Pack& pack : model_.packs) {
      RunInfo::PackInfo info;
      std::int64_t sum = 0;
      for (const std::int32_t g : pack.gradients) {
        const StepModel::Gradient& gradient = model_.gradients[g];
        info.gradients.push_back(gradient.name);
        sum = sum < 0 || gradient.elements < 0 ? -1 : sum + gradient.elements * gradient.type.bytes;
      }
      info.bytes = Bytes(std::max<std::int64_t>(0, pack.bytes >= 0 ? pack.bytes : sum));
      info.type = pack.type.name;
      info.nccl = choice_text(pack.algorithm, pack.protocol, pack.channels);
      packs_.push_back(std::move(info));
    }
    const auto of_model = packs_.size();
    constexpr std::size_t kMaxPacks = 100'000;
    for (const MeasuredRank& rank : run_.ranks) {
      for (const MeasuredCollective& c : rank.collectives) {
        if (is_pack(c, of_model)) continue;
        const Key key{c.kind, c.group, c.bytes};
        if (number_of_.contains(key) || packs_.size() >= kMaxPacks) continue;
        number_of_[key] = static_cast<std::int32_t>(packs_.size());
        RunInfo::PackInfo info;
        info.gradients.push_back(name_of(c));
        info.bytes = Bytes(std::max<std::int64_t>(0, c.bytes));
        info.type = c.type.name;
        info.nccl = choice_text(c.algorithm, c.protocol, c.channels);
        packs_.push_back(std::move(info));
      }
    }
  }
  using Key = std::tuple<MeasuredKind, std::int32_t, std::int64_t>;
  static bool is_pack(const MeasuredCollective& c, std::size_t packs) {
    return c.pack >= 0 && static_cast<std::size_t>(c.pack) < packs;
  }
  [[nodiscard]] std::int32_t pack_of(const MeasuredCollective& c) const {
    if (is_pack(c, model_.packs.size())) return c.pack;
    const auto known = number_of_.find({c.kind, c.group, c.bytes});
    return known == number_of_.end() ? -1 : known->second;
  }
  [[nodiscard]] std::string name_of(const MeasuredCollective& c) const {
    std::string text(to_string(c.kind));
    if (c.group < 0) return text;
    const MeasuredGroup& group = run_.groups[c.group];
    text += fmt::format(" in {}", group.description.empty() ? group.name : group.description);
    if (group.size > 0) text += fmt::format(" of {}", group.size);
    return text;
  }

  void begin(const std::string& name) {
    RunInfo info;
    info.scenario = name;
    info.scenario_file = run_.files.empty() ? "" : run_.files.front();
    info.version = version();
    info.executor = "measured";
    info.network_model = "measured";
    info.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(step_of_number_.size()));
    info.replicas =
        std::max<std::int64_t>(run_.world_size, static_cast<std::int64_t>(run_.ranks.size()));
    info.cluster = fmt::format("{} GPU{}{}{}", info.replicas, info.replicas == 1 ? "" : "s",
                               run_.gpu.empty() ? "" : ", ", run_.gpu);
    info.workload = model_.gradients.empty() ? "measured"
                                             : fmt::format("{} gradients", model_.gradients.size());
    info.strategy = strategy_text();
    info.timing = fmt::format("measured ({})", run_.format);
    for (const StepModel::Pack& pack : model_.packs)
      info.gradient_bytes += Bytes(std::max<std::int64_t>(0, pack.bytes));
    info.packs = packs_;
    for (const StepModel::Layer& layer : model_.layers) info.layers.push_back(layer.name);
    info.notes = run_.notes;
    sink_.begin(info);
  }
  [[nodiscard]] std::string strategy_text() const {
    if (model_.packs.empty()) return run_.framework.empty() ? run_.format : run_.framework;
    return fmt::format("{}, {} packs", run_.is_ddp ? "PyTorch DDP" : run_.framework,
                       model_.packs.size());
  }

  /// Kernels of one layer are shown as one span if the pauses between them are not longer than
  /// this. Longer pauses are host gaps.
  static constexpr Time kBreath = microseconds(1);

  struct Rows {
    TrackId compute = kNoTrack;
    TrackId first_pack = kNoTrack;
    std::vector<std::int32_t> slot;  ///< for each collective, its row; -1 if the collective has no
                                     ///< time
    std::int32_t slots = 0;
  };

  void write_tracks(const MeasuredRank& rank) {
    Rows rows;
    const std::string device = fmt::format("gpu{}", rank.device);
    if (!rank.compute.empty()) {
      rows.compute = next_track_++;
      sink_.track({rows.compute, TrackKind::kCompute, rank.worker, device});
    }
    // Assign each collective to the first free row, in the order in which the collectives start.
    // The rows in use, sorted by the end of their last collective.
    std::multimap<std::int64_t, std::int32_t> busy;
    std::set<std::int32_t> free;
    rows.slot.assign(rank.collectives.size(), -1);
    for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
      const MeasuredCollective& c = rank.collectives[i];
      if (!is_shown(rank, c)) continue;
      while (!busy.empty() && busy.begin()->first <= c.start_ns) {
        free.insert(busy.begin()->second);
        busy.erase(busy.begin());
      }
      if (free.empty()) free.insert(rows.slots++);
      rows.slot[i] = *free.begin();
      free.erase(free.begin());
      busy.emplace(c.end_ns, rows.slot[i]);
    }
    rows.first_pack = next_track_;
    for (std::int32_t slot = 0; slot < rows.slots; ++slot)
      sink_.track({next_track_++, TrackKind::kPacks, rank.worker, device, slot});
    rows_.push_back(std::move(rows));
  }

  /// True if the timeline shows the collective. Collectives before the first step and collectives
  /// without times are not shown.
  static bool is_shown(const MeasuredRank& rank, const MeasuredCollective& c) {
    return c.start_ns >= 0 && c.end_ns >= c.start_ns && (c.step >= 0 || rank.steps.empty());
  }

  void write_spans(const MeasuredRank& rank) {
    const Rows& rows = rows_[&rank - run_.ranks.data()];
    std::vector<Interval> flights;
    for (const MeasuredCollective& c : rank.collectives)
      if (is_shown(rank, c)) flights.push_back({c.start_ns, c.end_ns});
    flights = united(std::move(flights));
    Span span;
    bool open = false;
    const auto flush = [&] {
      if (open) sink_.span(rows.compute, span);
      open = false;
    };
    Time before;
    for (const MeasuredCompute& c : rank.compute) {
      const Time start = std::max(at(c.start_ns), before), end = std::max(at(c.end_ns), start);
      if (end == start) continue;
      const std::int32_t kind = kind_of(c.phase), step = step_of(rank, c.step);
      const std::int64_t index = std::max<std::int32_t>(0, c.layer);
      if (start > before + kBreath && before > Time()) {
        flush();
        write_gaps(rows.compute, flights, before, start, step);
      }
      before = end;
      if (open && span.kind == kind && span.step == step && span.index == index &&
          start <= span.start + span.duration + kBreath) {
        span.duration = end - span.start;
        continue;
      }
      flush();
      span = Span{};
      span.start = start;
      span.duration = end - start;
      span.kind = kind;
      span.step = step;
      span.index = index;
      open = true;
    }
    flush();
    std::vector<std::vector<std::size_t>> by_slot(rows.slots);
    for (std::size_t i = 0; i < rank.collectives.size(); ++i)
      if (rows.slot[i] >= 0) by_slot[rows.slot[i]].push_back(i);
    for (std::int32_t slot = 0; slot < rows.slots; ++slot) {
      for (const std::size_t i : by_slot[slot]) {
        const MeasuredCollective& c = rank.collectives[i];
        Span flight;
        flight.start = at(c.start_ns);
        flight.duration = at(c.end_ns) - flight.start;
        flight.kind = SpanKind::kPackInFlight;
        flight.step = step_of(rank, c.step);
        flight.pack = pack_of(c);
        flight.bytes = Bytes(std::max<std::int64_t>(0, c.bytes));
        sink_.span(rows.first_pack + slot, flight);
      }
    }
  }

  /// Writes the host gaps between `from` and `to`. Nothing is computed in this interval. The device
  /// waits for its host in those parts in which no collective is in flight either.
  void write_gaps(TrackId track, const std::vector<Interval>& flights, Time from, Time to,
                  std::int32_t step) {
    const auto ns = [this](Time t) { return origin_ + t.count() / 1000; };
    const auto write = [&](Time begin, Time end) {
      if (end - begin <= kBreath) return;
      Span gap;
      gap.start = begin;
      gap.duration = end - begin;
      gap.kind = SpanKind::kFirstCompute + static_cast<std::int32_t>(ComputeKind::kHostGap);
      gap.step = step;
      sink_.span(track, gap);
    };
    auto flight = std::lower_bound(flights.begin(), flights.end(), ns(from),
                                   [](const Interval& i, std::int64_t t) { return i.end <= t; });
    for (; flight != flights.end() && flight->start < ns(to); ++flight) {
      write(from, std::min(to, std::max(from, at(flight->start))));
      from = std::max(from, std::min(to, at(flight->end)));
    }
    write(from, to);
  }

  void write_steps() {
    // The interval of a training step on the rank that ended the step last, and its parts on the
    // rank that computed longest, as in simulated and real runs.
    struct Ended {
      std::int64_t end = std::numeric_limits<std::int64_t>::min();
      std::int64_t start = 0;
      Time computed = Time(-1);
      ReplicaParts parts;
    };
    std::map<std::int32_t, Ended> ended;
    for (const MeasuredRank& rank : run_.ranks) {
      std::vector<Interval> compute, collectives;
      for (const MeasuredCompute& c : rank.compute) compute.push_back({c.start_ns, c.end_ns});
      for (const MeasuredCollective& c : rank.collectives)
        if (is_shown(rank, c)) collectives.push_back({c.start_ns, c.end_ns});
      compute = united(std::move(compute));
      collectives = united(std::move(collectives));
      const std::string device = fmt::format("w{}/gpu{}", rank.worker, rank.device);
      if (rank.steps.empty()) {
        Ended& of = ended[0];
        ReplicaParts parts;
        parts.device = device;
        parts.communication = nanoseconds(covered(collectives, nullptr, origin_, last_));
        parts.exposed = nanoseconds(covered(collectives, &compute, origin_, last_));
        if (of.end < last_ || of.parts.communication < parts.communication)
          of = {last_, origin_, Time(), parts};
        continue;
      }
      for (std::size_t s = 0; s < rank.steps.size(); ++s) {
        const MeasuredStep& step = rank.steps[s];
        Ended& of = ended[step_of(rank, static_cast<std::int32_t>(s))];
        if (step.end_ns > of.end) {
          of.end = step.end_ns;
          of.start = step.start_ns;
        }
        const ReplicaParts parts = parts_of(step, device, compute, collectives);
        const Time computed = parts.forward + parts.backward + parts.other_compute;
        if (computed <= of.computed) continue;
        of.computed = computed;
        of.parts = parts;
      }
    }
    Time before;
    for (const auto& [number, of] : ended) {
      const Time start = number == 0 ? at(of.start) : before;
      const Time end = std::max(at(of.end), start);
      sink_.step(step_record(number, start, end, of.parts));
      before = end;
    }
  }

  [[nodiscard]] ReplicaParts parts_of(const MeasuredStep& step, const std::string& device,
                                      const std::vector<Interval>& compute,
                                      const std::vector<Interval>& collectives) const {
    ReplicaParts parts;
    parts.device = device;
    parts.start = at(step.start_ns);
    const std::int64_t backward = step.backward_ns < 0
                                      ? step.end_ns
                                      : std::clamp(step.backward_ns, step.start_ns, step.end_ns);
    std::int64_t ready =
        step.gradients.empty() ? std::clamp(step.backward_end_ns, backward, step.end_ns) : backward;
    for (const MeasuredGradient& g : step.gradients)
      ready = std::max(ready, std::min(g.ready_ns, step.end_ns));
    const auto without_exposed = [&](std::int64_t from, std::int64_t to) {
      return nanoseconds(to - from - covered(collectives, &compute, from, to));
    };
    parts.forward = without_exposed(step.start_ns, backward);
    parts.backward = without_exposed(backward, ready);
    parts.other_compute = without_exposed(ready, step.end_ns);
    parts.communication = nanoseconds(covered(collectives, nullptr, step.start_ns, step.end_ns));
    parts.exposed = nanoseconds(covered(collectives, &compute, step.start_ns, step.end_ns));
    return parts;
  }

  void write_packs() {
    // Identifies a collective on all ranks: the k-th execution of a pack in a training step.
    using Which = std::tuple<std::int32_t, std::int32_t, std::int64_t>;
    std::map<Which, PackRecord> records;
    for (const MeasuredRank& rank : run_.ranks) {
      std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> seen;
      std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> ready;
      for (std::size_t s = 0; s < rank.steps.size(); ++s) {
        for (const MeasuredGradient& g : rank.steps[s].gradients) {
          if (g.pack < 0) continue;
          auto& latest = ready[{static_cast<std::int32_t>(s), g.pack}];
          latest = std::max(latest, g.ready_ns);
        }
      }
      for (const MeasuredCollective& c : rank.collectives) {
        const std::int32_t pack = pack_of(c);
        if (!is_shown(rank, c) || pack < 0) continue;
        const std::int32_t step = step_of(rank, c.step);
        const std::int64_t which = c.sequence >= 0 ? c.sequence : seen[{step, pack}]++;
        const auto known = ready.find({c.step, c.pack});
        const Time start = at(c.start_ns), end = at(c.end_ns);
        const Time when_ready = known == ready.end() ? start : std::min(start, at(known->second));
        const auto [record, added] = records.try_emplace(
            {step, pack, which}, PackRecord{step, pack, when_ready, start, start, end});
        if (added) continue;
        PackRecord& r = record->second;
        r.ready = std::max(r.ready, when_ready);
        r.first_start = std::min(r.first_start, start);
        r.last_start = std::max(r.last_start, start);
        r.end = std::max(r.end, end);
      }
    }
    for (auto& [which, record] : records) {
      // A pack may seem to start before it is ready, because the clocks of two ranks may differ by
      // some microseconds.
      record.ready = std::min(record.ready, record.last_start);
      record.end = std::max(record.end, record.last_start);
      sink_.pack(record);
    }
  }

  const MeasuredRun& run_;
  TimelineSink& sink_;
  const StepModel& model_;
  std::int64_t origin_ = 0, last_ = 0;
  std::map<std::int64_t, std::int32_t> step_of_number_;
  std::vector<RunInfo::PackInfo> packs_;
  std::map<Key, std::int32_t> number_of_;
  TrackId next_track_ = 0;
  std::vector<Rows> rows_;
};

}  // namespace

Expected<void> write_timeline(const MeasuredRun& run, const StepModel& model,
                              const std::string& name, TimelineSink& sink) {
  return TimelineOfRun(run, model, sink).write(name);
}

}  // namespace tutti::core
