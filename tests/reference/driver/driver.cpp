#include "tests/reference/driver/driver.h"

#include <algorithm>
#include <map>

#include "core/base/check.h"

namespace tutti::reference {

void DriverActions::exchange(int exchange, std::int64_t) {
  TUTTI_CHECK(false, "exchange {} was asked of somebody who does none", exchange);
}

DriverTables::DriverTables(const Workload& w, const Plan& p) : workload(w), plan(p) {
  packs_of_variable.resize(workload.gradients.size());
  successors.resize(plan.packs.size());
  answer = answers_to(plan);
  concatenation_of_pack.assign(plan.packs.size(), -1);
  concatenation_of_variable.assign(workload.gradients.size(), -1);
  std::map<int, int> by_entry;
  Bytes upto;
  segment_of_read.assign(plan.packs.size(), -1);
  reads_of_segment.assign(workload.segments.size(), 0);
  std::vector<int> segment_of_variable(workload.gradients.size(), -1);
  for (std::size_t s = 0; s < workload.segments.size(); ++s) {
    for (const int v : workload.segments[s].variables)
      segment_of_variable[static_cast<std::size_t>(v)] = static_cast<int>(s);
  }
  for (int i = 0; i < static_cast<int>(plan.packs.size()); ++i) {
    const Pack& pack = plan.packs[static_cast<std::size_t>(i)];
    if (pack.phase != PackPhase::kGradients) {
      bytes_up_to.push_back(upto);
      if (pack.after >= 0) successors[static_cast<std::size_t>(pack.after)].push_back(i);
      if (pack.phase == PackPhase::kCheckpoint) {
        checkpoint.push_back(i);
        continue;
      }
      reads.push_back(i);
      const int segment = segment_of_variable[static_cast<std::size_t>(pack.payload.members.front().variable)];
      segment_of_read[static_cast<std::size_t>(i)] = segment;
      if (segment >= 0) ++reads_of_segment[static_cast<std::size_t>(segment)];
      continue;
    }
    for (const Member& member : pack.payload.members) {
      packs_of_variable[static_cast<std::size_t>(member.variable)].push_back(i);
      // Of a push and its pull the second is what updates follow.
      if (answer[static_cast<std::size_t>(i)] < 0)
        upto += member.count * size_of(workload.gradients[static_cast<std::size_t>(member.variable)].type);
    }
    if (pack.also_needs >= 0) packs_of_variable[static_cast<std::size_t>(pack.also_needs)].push_back(i);
    bytes_up_to.push_back(upto);
    if (pack.after >= 0) successors[static_cast<std::size_t>(pack.after)].push_back(i);
    if (!pack.needs_all_gradients) continue;
    const auto [known, fresh] = by_entry.try_emplace(pack.entry, static_cast<int>(concatenations.size()));
    if (fresh) concatenations.emplace_back();
    concatenations[static_cast<std::size_t>(known->second)].packs.push_back(i);
    concatenation_of_pack[static_cast<std::size_t>(i)] = known->second;
  }
  for (std::size_t v = 0; v < workload.gradients.size() && !by_entry.empty(); ++v) {
    const auto entry = by_entry.find(plan.entry_of_gradient.empty() ? 0 : plan.entry_of_gradient[v]);
    if (entry == by_entry.end() || workload.gradients[v].slices) continue;
    concatenation_of_variable[v] = entry->second;
    ++concatenations[static_cast<std::size_t>(entry->second)].gradients;
  }
  if (!plan.compression || plan.compression->of_packs) return;
  for (const BackwardSegment& segment : workload.segments) {
    Bytes& sum = converted.emplace_back();
    for (const int v : segment.variables) {
      const Variable& gradient = workload.gradients[static_cast<std::size_t>(v)];
      // What is sparse travels as it is.
      if (!gradient.slices)
        sum += core::converted(gradient.elements, gradient.type, sent_as(plan.compression, gradient.type));
    }
  }
}

Driver::Driver(const DriverTables& tables, const StepTimes& times, const DeviceRates& device)
    : tables_(tables), times_(times), copy_rate_(device.copy), memory_rate_(device.memory), points_(tables.plan) {
  for (const PlannedExchange& e : tables.plan.exchanges)
    asked_.resize(std::max(asked_.size(), static_cast<std::size_t>(e.communicator) + 1));
}

Time Driver::scaled(Time t) const {
  if (scale_ppm_ == 1'000'000) return t;
  return Time(static_cast<std::int64_t>(static_cast<Wide>(t.count()) * static_cast<Wide>(scale_ppm_) / 1'000'000));
}

void Driver::begin_step(std::int64_t times_scale_ppm, DriverActions& actions) {
  scale_ppm_ = times_scale_ppm;
  states_.assign(tables_.plan.packs.size(), {});
  for (int p = 0; p < pack_count(); ++p) {
    state(p).gradients_missing = static_cast<int>(pack(p).payload.members.size()) + (pack(p).also_needs >= 0 ? 1 : 0);
  }
  concatenated_.clear();
  for (const DriverTables::Concatenation& c : tables_.concatenations)
    concatenated_.push_back({c.gradients, static_cast<std::int64_t>(c.packs.size())});
  backward_done_ = false;
  ++step_;
  saved_ = 0;
  packs_missing_ = pack_count() - static_cast<int>(tables_.checkpoint.size());
  tasks_missing_ = 0;
  awaited_packs_ = 0;
  finished_early_.clear();
  pass_ = 0;
  exchanges_asked_ = 0;
  reads_missing_ = tables_.reads_of_segment;
  reads_under_way_ = static_cast<int>(tables_.reads.size());
  for (const int p : tables_.reads) {
    actions.pack_ready(p);
    state(p).buffered = true;
    launch_if_allowed(p, actions);
  }
  begin_half(false, actions);
}

// --- reading ---

/// The layer at hand computes, once it has what it reads.
void Driver::forward_on(DriverActions& actions) {
  layer_waits_ = reads_missing_[static_cast<std::size_t>(forward_segment_)] > 0;
  if (layer_waits_) return;
  piece_ = times_.forward_by_segment[static_cast<std::size_t>(forward_segment_)];
  left_ = Time();
  actions.compute({ComputeKind::kForward, scaled(piece_), -1, -1, times_.forward_compute_bound});
}

void Driver::read_done(int p, DriverActions& actions) {
  --reads_under_way_;
  if (const int segment = tables_.segment_of_read[static_cast<std::size_t>(p)]; segment >= 0) {
    const bool all = --reads_missing_[static_cast<std::size_t>(segment)] == 0;
    if (layer_waits_ && all && segment == forward_segment_) return forward_on(actions);
  }
  if (whole_pass_waits_ && reads_under_way_ == 0) {
    whole_pass_waits_ = false;
    compute_on(actions);
  }
}

// --- passes: a forward and a backward half, in pieces between exchanges ---

void Driver::begin_half(bool backward, DriverActions& actions) {
  backward_ = backward;
  next_segment_ = 0;
  at_ = Time();
  if (points_.any()) {
    Time total = times_.forward;
    if (backward) {
      total = Time();
      for (int s = 0; s < segments(); ++s) total += segment_time(s);
    }
    points_.begin_pass(backward, total);
  }
  forward_segment_ = -1;
  if (backward) return next_segment(actions);
  left_ = times_.forward;
  if (pass_ > 0 || tables_.reads.empty()) return compute_on(actions);
  if (!times_.forward_by_segment.empty()) {
    forward_segment_ = segments() - 1;
    return forward_on(actions);
  }
  whole_pass_waits_ = reads_under_way_ > 0;
  if (!whole_pass_waits_) compute_on(actions);
}

Time Driver::segment_time(int segment) const {
  return times_.backward_in_pass(static_cast<std::size_t>(segment), pass_);
}

/// Puts the rest of the segment on the stream, or what of it lies before the next exchange.
void Driver::compute_on(DriverActions& actions) {
  piece_ = left_;
  if (points_.any()) {
    if (const auto next = points_.next(); next && *next - at_ < left_) piece_ = std::max(Time(), *next - at_);
  }
  left_ -= piece_;
  if (!backward_) return actions.compute({ComputeKind::kForward, scaled(piece_), -1, -1, times_.forward_compute_bound});
  const int segment = next_segment_ - 1;
  actions.compute({ComputeKind::kBackward, scaled(piece_), segment, -1,
                   times_.compute_bound_in_pass(static_cast<std::size_t>(segment), pass_)});
}

void Driver::piece_done(DriverActions& actions) {
  at_ += piece_;
  if (computes_layers() && --forward_segment_ >= 0) return forward_on(actions);
  if (backward_ && left_ == Time() && in_last_pass()) return segment_done(next_segment_ - 1, actions);
  exchange_or_go_on(actions);
}

/// What is due now is begun; computation goes on if it need not wait for it.
void Driver::exchange_or_go_on(DriverActions& actions) {
  if (awaited_packs_ > 0) return;
  while (points_.any()) {
    const auto due = points_.take(at_);
    if (!due) break;
    const PlannedExchange& exchange = tables_.plan.exchanges[static_cast<std::size_t>(*due)];
    std::deque<Asked>& stream = asked_[static_cast<std::size_t>(exchange.communicator)];
    const Asked asked{*due, exchanges_asked_++};
    stream.push_back(asked);
    ++exchanges_under_way_;
    if (!exchange.exchange.overlaps) awaited_number_ = asked.number;
    if (stream.size() == 1) actions.exchange(asked.exchange, asked.number);
    if (!exchange.exchange.overlaps) return;
  }
  if (left_ > Time()) return compute_on(actions);
  if (backward_) return next_segment(actions);
  half_done(actions);
}

void Driver::exchange_done(int exchange, DriverActions& actions) {
  const int communicator = tables_.plan.exchanges[static_cast<std::size_t>(exchange)].communicator;
  std::deque<Asked>& stream = asked_[static_cast<std::size_t>(communicator)];
  TUTTI_CHECK(!stream.empty() && stream.front().exchange == exchange, "exchange {} was not begun", exchange);
  const std::int64_t number = stream.front().number;
  stream.pop_front();
  --exchanges_under_way_;
  if (!stream.empty()) actions.exchange(stream.front().exchange, stream.front().number);
  if (number == awaited_number_) {
    awaited_number_ = -1;
    exchange_or_go_on(actions);
  } else if (half_waits_ && exchanges_under_way_ == 0) {
    half_done(actions);
  }
}

/// All of a half is computed: it is over once its exchanges are.
void Driver::half_done(DriverActions& actions) {
  half_waits_ = exchanges_under_way_ > 0;
  if (half_waits_) return;
  if (!backward_) return begin_half(true, actions);
  if (!in_last_pass()) {
    ++pass_;
    return begin_half(false, actions);
  }
  backward_done_ = true;
  for (const int p : std::exchange(finished_early_, {})) unpack_and_update(p, actions);
  if (packs_missing_ == 0) finish(actions);
}

void Driver::compute_done(const ComputeTask& task, DriverActions& actions) {
  switch (task.kind) {
    case ComputeKind::kForward:
    case ComputeKind::kBackward: return piece_done(actions);
    case ComputeKind::kCopyIn: return convert_or_launch(task.pack, actions);
    case ComputeKind::kConvert:
      if (task.pack < 0) return gradients_ready(task.segment, actions), exchange_or_go_on(actions);
      state(task.pack).buffered = true;
      return launch_if_allowed(task.pack, actions);
    case ComputeKind::kCopyOut:
    case ComputeKind::kConvertBack:
    case ComputeKind::kUpdate:
      if (--tasks_missing_ == 0 && packs_missing_ == 0) save_or_end(actions);
      return;
  }
}

void Driver::next_segment(DriverActions& actions) {
  if (next_segment_ == segments()) return half_done(actions);
  left_ = segment_time(next_segment_++);
  compute_on(actions);
}

void Driver::segment_done(int segment, DriverActions& actions) {
  if (!tables_.converted.empty() && tables_.converted[static_cast<std::size_t>(segment)].count() > 0) {
    const Time duration = convert_time(tables_.converted[static_cast<std::size_t>(segment)]);
    return actions.compute({ComputeKind::kConvert, duration, segment, -1});
  }
  gradients_ready(segment, actions);
  exchange_or_go_on(actions);
}

void Driver::gradients_ready(int segment, DriverActions& actions) {
  std::vector<int> complete;
  for (const int variable : tables_.workload.segments[static_cast<std::size_t>(segment)].variables) {
    if (const int c = tables_.concatenation_of_variable[static_cast<std::size_t>(variable)]; c >= 0) {
      if (--concatenated_[static_cast<std::size_t>(c)].gradients_missing > 0) continue;
      const std::vector<int>& packs = tables_.concatenations[static_cast<std::size_t>(c)].packs;
      complete.insert(complete.end(), packs.begin(), packs.end());
      continue;
    }
    for (const int p : tables_.packs_of_variable[static_cast<std::size_t>(variable)]) {
      if (--state(p).gradients_missing == 0) complete.push_back(p);
    }
  }
  std::sort(complete.begin(), complete.end());
  if (tables_.plan.computation_waits) awaited_packs_ += static_cast<int>(complete.size());
  for (const int p : complete) {
    actions.pack_ready(p);
    copy_convert_launch(p, actions);
  }
}

void Driver::copy_convert_launch(int p, DriverActions& actions) {
  if (pack(p).copied_in.count() > 0)
    return actions.compute({ComputeKind::kCopyIn, copy_time(pack(p).copied_in), -1, p});
  convert_or_launch(p, actions);
}

void Driver::convert_or_launch(int p, DriverActions& actions) {
  if (pack(p).converted_in.count() > 0)
    return actions.compute({ComputeKind::kConvert, convert_time(pack(p).converted_in), -1, p});
  state(p).buffered = true;
  launch_if_allowed(p, actions);
}

void Driver::launch_if_allowed(int p, DriverActions& actions) {
  PackState& s = state(p);
  const bool turn = pack(p).after < 0 || state(pack(p).after).done;
  if (!s.buffered || !turn || s.launched) return;
  s.launched = true;
  actions.launch(p);
}

void Driver::pack_done(int p, DriverActions& actions) {
  TUTTI_CHECK(state(p).launched && !state(p).done, "pack {} is complete before it was launched, or twice", p);
  state(p).done = true;
  if (pack(p).phase == PackPhase::kCheckpoint) return save_or_end(actions);
  --packs_missing_;
  for (const int next : tables_.successors[static_cast<std::size_t>(p)]) launch_if_allowed(next, actions);
  if (pack(p).phase == PackPhase::kRead) return read_done(p, actions);
  if (backward_done_) {
    unpack_and_update(p, actions);
    if (packs_missing_ == 0) finish(actions);
  } else {
    finished_early_.push_back(p);
    if (tables_.plan.computation_waits && --awaited_packs_ == 0) exchange_or_go_on(actions);
  }
}

/// What can be done for one pack as soon as it is complete.
void Driver::unpack_and_update(int p, DriverActions& actions) {
  if (tables_.answer[static_cast<std::size_t>(p)] >= 0) return;
  if (const int c = tables_.concatenation_of_pack[static_cast<std::size_t>(p)]; c >= 0) {
    if (--concatenated_[static_cast<std::size_t>(c)].packs_missing == 0)
      unpack_concatenation(tables_.concatenations[static_cast<std::size_t>(c)], actions);
    return;
  }
  unpack(pack(p).copied_out, pack(p).converted_out, p, actions);
  if (tables_.plan.update == Update::kPerPack) {
    ++tasks_missing_;
    actions.compute({ComputeKind::kUpdate, update_share(p), -1, p});
  }
}

/// All packs of a concatenation are complete.
void Driver::unpack_concatenation(const DriverTables::Concatenation& concatenation, DriverActions& actions) {
  Bytes copied, converted;
  Time update;
  for (const int p : concatenation.packs) {
    copied += pack(p).copied_out;
    converted += pack(p).converted_out;
    update += update_share(p);
  }
  unpack(copied, converted, -1, actions);
  if (tables_.plan.update != Update::kPerPack) return;
  ++tasks_missing_;
  actions.compute({ComputeKind::kUpdate, update, -1, -1});
}

/// Packs that were converted as a whole are converted back as a whole, before they are copied.
void Driver::unpack(Bytes copied, Bytes converted, int p, DriverActions& actions) {
  const auto add = [&](ComputeKind kind, Time duration) {
    ++tasks_missing_;
    actions.compute({kind, duration, -1, p});
  };
  if (converts_packs() && converted.count() > 0) add(ComputeKind::kConvertBack, convert_time(converted));
  if (copied.count() > 0) add(ComputeKind::kCopyOut, copy_time(copied));
  if (!converts_packs() && converted.count() > 0) add(ComputeKind::kConvertBack, convert_time(converted));
}

/// Every pack is complete and the backward pass is over.
void Driver::finish(DriverActions& actions) {
  if (tables_.plan.update == Update::kAfterAll) {
    ++tasks_missing_;
    actions.compute({ComputeKind::kUpdate, scaled(times_.update)});
  }
  if (tables_.plan.update == Update::kOnServers && tasks_missing_ == 0) save_or_end(actions);
}

/// Everything of the step but its checkpoint is over. TensorFlow brings one variable after the other together.
void Driver::save_or_end(DriverActions& actions) {
  if (saved_ == tables_.checkpoint.size() || !takes_part(tables_.plan, pack(tables_.checkpoint[saved_]), step_))
    return actions.step_done();
  const int p = tables_.checkpoint[saved_++];
  actions.pack_ready(p);
  state(p).launched = true;
  actions.launch(p);
}

/// The pack's part of the update, by its share of the bytes; parts add up exactly.
Time Driver::update_share(int p) const {
  const auto upto = [this](Bytes bytes) {
    const auto total = static_cast<Wide>(tables_.bytes_up_to.back().count());
    return static_cast<std::int64_t>(static_cast<Wide>(scaled(times_.update).count()) *
                                     static_cast<Wide>(bytes.count()) / total);
  };
  const Bytes before = p == 0 ? Bytes() : tables_.bytes_up_to[static_cast<std::size_t>(p) - 1];
  return Time(upto(tables_.bytes_up_to[static_cast<std::size_t>(p)]) - upto(before));
}

}  // namespace tutti::reference
