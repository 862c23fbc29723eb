// obstacle() determines whether a step can be executed. perform() executes the step and does not
// check for obstacles again. Every step is executed as a whole, except fused steps that receive and
// send. When a fused step has received a message, the content is stored in `unsent_content`, and
// the message's slot is free. The fused step then waits for a free slot at the receiver before it
// sends. To detect races, a vector clock is kept for each lane, message and completed step. The
// clocks take (number of steps) × (number of lanes) words of memory, at most 2^25. Each access to a
// cell must be ordered after the last write to the cell. A write must also be ordered after the
// last read by each lane. Execution ends with the step that has the first problem, because later
// problems would only be consequences of the first problem. checker.cpp selects the order of lanes
// and checks the final buffers.

#include "core/schedule/symbolic_run.h"

#include <algorithm>
#include <utility>

namespace tutti::core {
namespace {

constexpr std::size_t kMaxProblemsOfRun = 8;
constexpr std::size_t kMaxClockWords = std::size_t{1} << 25;

std::string_view name_of(Buffer buffer) { return buffer == Buffer::kData ? "data" : "scratch"; }

void join(std::vector<std::uint32_t>& clock, const std::vector<std::uint32_t>& other) {
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

}  // namespace

SymbolicRun::SymbolicRun(const Schedule& schedule, const Contract& contract, Races races)
    : schedule_(schedule), sums_(schedule.ranks()) {
  std::size_t steps = 0;
  for (Rank r = 0; r < schedule_.ranks(); ++r) {
    data_.emplace_back(contract.buffer_elements());
    if (const Range input = contract.input(r); input.count > 0)
      data_.back().fill(input.offset + contract.input_shift,
                        {input.count, sums_.single(r), input.offset});
    scratch_.emplace_back(schedule_.scratch(r));
    first_lane_.push_back(lanes_.size());
    for (Lane l = 0; l < schedule_.lanes(r); ++l) {
      lanes_.push_back({r, l, 0, schedule_.steps(r, l)});
      steps += static_cast<std::size_t>(lanes_.back().steps) + 1;
    }
  }
  work_.resize(lanes_.size());
  keep_clocks_ = races == Races::kLookedFor && steps * lanes_.size() <= kMaxClockWords;
  if (!keep_clocks_) return;
  for (LaneWork& work : work_) work.clock.assign(lanes_.size(), 0);
}

template <class... Args>
void SymbolicRun::complain(ViolationKind kind, std::size_t number, Besides besides,
                           fmt::format_string<Args...> format, Args&&... args) {
  if (problems_.size() >= kMaxProblemsOfRun) return;
  const LaneState& at = lanes_[number];
  problems_.push_back({kind, at.rank, at.lane, at.next, besides.rank, besides.lane, besides.element,
                       fmt::format("rank {} lane {} step {}: {}", at.rank, at.lane, at.next,
                                   fmt::format(format, std::forward<Args>(args)...))});
}

bool SymbolicRun::lane_exists(std::size_t at, Rank rank, Lane lane) {
  if (rank >= 0 && rank < schedule_.ranks() && lane >= 0 && lane < schedule_.lanes(rank))
    return true;
  complain(ViolationKind::kNoSuchLane, at, {rank, lane}, "there is no lane {} of rank {}", lane,
           rank);
  return false;
}

Step SymbolicRun::next_step(std::size_t number) const {
  const LaneState& lane = lanes_[number];
  return schedule_.step(lane.rank, lane.lane, lane.next);
}

std::size_t SymbolicRun::sender_of(std::size_t number, const Step& step) const {
  return lane_number(step.from.rank(lanes_[number].rank, schedule_.ranks()), step.from.lane);
}

Rank SymbolicRun::receiver_of(std::size_t number, const Step& step) const {
  return step.to.rank(lanes_[number].rank, schedule_.ranks());
}

// --- one step ---

bool SymbolicRun::try_step(std::size_t number, std::optional<std::size_t> sender) {
  LaneState& lane = lanes_[number];
  LaneWork& work = work_[number];
  if (lane.done() || !problems_.empty()) return false;
  const Step step = next_step(number);
  if (obstacle(number, step, sender).kind != Obstacle::Kind::kNone || !problems_.empty())
    return false;
  if (!work.unsent_content) {
    tick(number, step);
    perform(number, step, sender);
    if (work.unsent_content) return true;
  } else {
    post(number, receiver_of(number, step), step.to.lane, std::move(*work.unsent_content));
    work.unsent_content.reset();
  }
  if (keep_clocks_) work.history.push_back(work.clock);
  ++lane.next;
  return true;
}

void SymbolicRun::tick(std::size_t number, const Step& step) {
  if (!keep_clocks_) return;
  LaneWork& work = work_[number];
  ++work.clock[number];
  if (step.wait.lane < 0 || step.wait.count == 0) return;
  const LaneWork& awaited = work_[lane_number(lanes_[number].rank, step.wait.lane)];
  join(work.clock, awaited.history[step.wait.count - 1]);
}

SymbolicRun::Obstacle SymbolicRun::obstacle(std::size_t number, std::optional<std::size_t> sender) {
  return lanes_[number].done() ? Obstacle{} : obstacle(number, next_step(number), sender);
}

SymbolicRun::Obstacle SymbolicRun::obstacle(std::size_t number, const Step& step,
                                            std::optional<std::size_t> sender) {
  const Rank rank = lanes_[number].rank;
  if (work_[number].unsent_content) return no_slot(number, receiver_of(number, step), step.to.lane);
  if (step.wait.lane >= 0) {
    if (!lane_exists(number, rank, step.wait.lane)) return {};
    const std::size_t awaited = lane_number(rank, step.wait.lane);
    if (lanes_[awaited].next < step.wait.count) return {Obstacle::Kind::kLane, awaited};
  }
  const auto has_message = [&](std::size_t from) {
    const auto queue = messages_.find({from, number});
    return queue != messages_.end() && !queue->second.empty();
  };
  if (step.kind == StepKind::kReceiveAny) {
    if (sender && !has_message(*sender)) return {Obstacle::Kind::kMessage, *sender};
    if (work_[number].arrived.empty()) return {Obstacle::Kind::kAnyMessage, 0};
  } else if (receives(step.kind)) {
    if (!lane_exists(number, step.from.rank(rank, schedule_.ranks()), step.from.lane)) return {};
    if (!has_message(sender_of(number, step)))
      return {Obstacle::Kind::kMessage, sender_of(number, step)};
  } else if (step.kind == StepKind::kMulticast) {
    for (std::int32_t i = 0; i < step.group.count; ++i) {
      if (step.group.at(i) == rank) continue;
      const Obstacle full = no_slot(number, step.group.at(i), step.to.lane);
      if (full.kind != Obstacle::Kind::kNone) return full;
    }
  } else if (step.kind == StepKind::kSend) {
    return no_slot(number, receiver_of(number, step), step.to.lane);
  }
  return {};
}

SymbolicRun::Obstacle SymbolicRun::no_slot(std::size_t number, Rank to, Lane to_lane) {
  if (!lane_exists(number, to, to_lane)) return {};
  const auto queue = messages_.find({number, lane_number(to, to_lane)});
  const bool full =
      queue != messages_.end() &&
      queue->second.size() >= static_cast<std::size_t>(schedule_.credits(to, to_lane));
  return full ? Obstacle{Obstacle::Kind::kSlot, lane_number(to, to_lane)} : Obstacle{};
}

std::string SymbolicRun::obstacle_in_words(std::size_t number) {
  const Obstacle obstacle = this->obstacle(number);
  const LaneState& other = lanes_[obstacle.lane];
  switch (obstacle.kind) {
    case Obstacle::Kind::kNone: return "";
    case Obstacle::Kind::kLane:
      return fmt::format("waits for {} steps of lane {}, which has completed {}",
                         next_step(number).wait.count, other.lane, other.next);
    case Obstacle::Kind::kMessage:
      return fmt::format("waits for a message from rank {} lane {}", other.rank, other.lane);
    case Obstacle::Kind::kAnyMessage: return "waits for a message from any rank";
    case Obstacle::Kind::kSlot:
      return fmt::format("waits for a free slot at rank {} lane {}", other.rank, other.lane);
  }
  return "";
}

void SymbolicRun::perform(std::size_t number, const Step& step, std::optional<std::size_t> sender) {
  const Rank rank = lanes_[number].rank;
  std::optional<Content>& unsent_content = work_[number].unsent_content;
  switch (step.kind) {
    case StepKind::kNop: return;
    case StepKind::kSend:
      return post(number, receiver_of(number, step), step.to.lane, read(number, rank, step.source));
    case StepKind::kReceive:
      return write(number, step.target, take(number, sender_of(number, step), step.target.count));
    case StepKind::kReceiveAny: return receive_any(number, step, sender);
    case StepKind::kReceiveReduce:
      return write(number, step.target, received_sum(number, step, step.source));
    case StepKind::kReceiveSend:
      unsent_content = take(number, sender_of(number, step), step.target.count);
      return write(number, step.target, *unsent_content);
    case StepKind::kReceiveReduceSend:
      unsent_content = received_sum(number, step, step.source);
      return;
    case StepKind::kReceiveReduceCopySend:
      unsent_content = received_sum(number, step, step.source);
      return write(number, step.target, *unsent_content);
    case StepKind::kCopy:
      if (step.source.count != step.target.count)
        return complain(ViolationKind::kLength, number, {},
                        "copies {} elements to a range of {} elements", step.source.count,
                        step.target.count);
      return write(number, step.target, read(number, rank, step.source));
    case StepKind::kReduce: return reduce(number, step);
    case StepKind::kScale:
    case StepKind::kUpdate: return write(number, step.target, read(number, rank, step.target));
    case StepKind::kMulticast: return multicast(number, step);
    case StepKind::kSwitchReduce: return switch_reduce(number, step);
  }
}

void SymbolicRun::multicast(std::size_t number, const Step& step) {
  const Rank rank = lanes_[number].rank;
  const Content content = read(number, rank, step.source);
  for (std::int32_t i = 0; i < step.group.count; ++i) {
    if (step.group.at(i) != rank) post(number, step.group.at(i), step.to.lane, content);
  }
}

void SymbolicRun::receive_any(std::size_t number, const Step& step,
                              std::optional<std::size_t> wanted) {
  const LaneState& lane = lanes_[number];
  const std::size_t sender = wanted.value_or(work_[number].arrived.front());
  Range target = step.target;
  target.offset += step.stride * schedule_.arrival_slot(lane.rank, lane.lane, lanes_[sender].rank);
  write(number, target, take(number, sender, target.count));
}

void SymbolicRun::reduce(std::size_t number, const Step& step) {
  const Rank rank = lanes_[number].rank;
  if (step.inputs < 1)
    return complain(ViolationKind::kNoInputs, number, {}, "reduces {} inputs", step.inputs);
  Content sum;
  for (std::int32_t i = 0; i < step.inputs; ++i) {
    const Range input{step.source.buffer, step.source.offset + i * step.stride, step.target.count};
    add_to(sum, read(number, rank, input), sums_);
  }
  if (step.accumulate) add_to(sum, read(number, rank, step.target), sums_);
  report_bad_sum(number, sum);
  write(number, step.target, sum);
}

void SymbolicRun::switch_reduce(std::size_t number, const Step& step) {
  Content sum;
  if (step.source.count != step.target.count)
    return complain(ViolationKind::kLength, number, {}, "adds up {} elements, but stores {}",
                    step.source.count, step.target.count);
  for (std::int32_t i = 0; i < step.group.count; ++i) {
    const Rank rank = step.group.at(i);
    if (keep_clocks_ && !has_message_from(number, rank)) {
      return complain(
          ViolationKind::kReadBeforeMessage, number, {rank},
          "reads the buffer of rank {} before the notification that its data is complete", rank);
    }
    add_to(sum, read(number, rank, step.source), sums_);
  }
  report_bad_sum(number, sum);
  write(number, step.target, sum);
}

/// True if a message has told this lane that `rank` has executed at least one step.
bool SymbolicRun::has_message_from(std::size_t number, Rank rank) const {
  if (rank == lanes_[number].rank) return true;
  for (Lane l = 0; l < schedule_.lanes(rank); ++l) {
    if (work_[number].clock[lane_number(rank, l)] > 0) return true;
  }
  return false;
}

void SymbolicRun::report_bad_sum(std::size_t number, const Content& sum) {
  std::int64_t element = 0;
  for (const Stretch& stretch : sum) {
    if (stretch.sum == Sums::kTwice)
      return complain(ViolationKind::kTwice, number, {-1, -1, element},
                      "adds the contribution of a rank twice (at element {} of the step)", element);
    if (stretch.sum == Sums::kUnlike)
      return complain(ViolationKind::kUnlike, number, {-1, -1, element},
                      "adds elements with different indices (at element {} of the step)", element);
    element += stretch.count;
  }
}

Content SymbolicRun::received_sum(std::size_t number, const Step& step, const Range& own) {
  Content sum = take(number, sender_of(number, step), own.count);
  add_to(sum, read(number, lanes_[number].rank, own), sums_);
  report_bad_sum(number, sum);
  return sum;
}

// --- messages ---

void SymbolicRun::post(std::size_t from, Rank to, Lane to_lane, Content content) {
  const std::size_t number = lane_number(to, to_lane);
  messages_[{from, number}].push_back({std::move(content), work_[from].clock});
  work_[number].arrived.push_back(from);
}

Content SymbolicRun::take(std::size_t number, std::size_t sender, std::int64_t count) {
  LaneWork& work = work_[number];
  std::deque<Message>& queue = messages_[{sender, number}];
  Message message = std::move(queue.front());
  queue.pop_front();
  work.arrived.erase(std::find(work.arrived.begin(), work.arrived.end(), sender));
  if (keep_clocks_) join(work.clock, message.clock);
  if (const std::int64_t sent = length_of(message.content); sent != count) {
    const LaneState& from = lanes_[sender];
    complain(ViolationKind::kLength, number, {from.rank, from.lane},
             "expects {} elements, but rank {} lane {} sent {}", count, from.rank, from.lane, sent);
    message.content = {{count, Sums::kUndefined, 0}};
  }
  return std::move(message.content);
}

void SymbolicRun::unreceived_messages(
    const std::function<void(std::size_t, std::size_t, std::size_t)>& tell) const {
  for (const auto& [connection, queue] : messages_) {
    if (!queue.empty()) tell(connection.first, connection.second, queue.size());
  }
}

// --- buffers ---

SymbolicBuffer& SymbolicRun::buffer(Rank rank, Buffer which) {
  return (which == Buffer::kData ? data_ : scratch_)[rank];
}

bool SymbolicRun::inside(std::size_t number, Rank rank, const Range& range) {
  const std::int64_t elements = buffer(rank, range.buffer).elements();
  if (range.offset >= 0 && range.count >= 0 && range.end() <= elements) return true;
  complain(ViolationKind::kOutside, number, {rank},
           "{}[{}..{}) of rank {} is outside the buffer, which has {} elements",
           name_of(range.buffer), range.offset, range.end(), rank, elements);
  return false;
}

Content SymbolicRun::read(std::size_t number, Rank rank, const Range& range) {
  if (!inside(number, rank, range))
    return {{std::max<std::int64_t>(0, range.count), Sums::kUndefined, 0}};
  Content content;
  for (SymbolicBuffer::Cell& cell :
       buffer(rank, range.buffer).cells_of(range.offset, range.end())) {
    if (cell.sum == Sums::kUndefined) {
      complain(ViolationKind::kNeverWritten, number, {rank, -1, cell.begin},
               "reads element {} of {} of rank {} before it was written", cell.begin,
               name_of(range.buffer), rank);
      return {{range.count, Sums::kUndefined, 0}};
    }
    if (!content.empty() && content.back().sum == cell.sum &&
        content.back().first + content.back().count == cell.first) {
      content.back().count += cell.end - cell.begin;
    } else {
      content.push_back({cell.end - cell.begin, cell.sum, cell.first});
    }
    if (keep_clocks_) note_read(number, cell, cell.begin);
  }
  return content;
}

void SymbolicRun::write(std::size_t number, const Range& range, const Content& content) {
  const Rank rank = lanes_[number].rank;
  if (!inside(number, rank, range)) return;
  std::int64_t at = range.offset;
  for (const Stretch& stretch : content) {
    const std::int64_t end = std::min(range.end(), at + stretch.count);
    for (SymbolicBuffer::Cell& cell : buffer(rank, range.buffer).cells_of(at, end)) {
      if (keep_clocks_) note_write(number, cell, cell.begin);
      cell.sum = stretch.sum;
      cell.first = stretch.first + cell.begin - at;
    }
    at = end;
  }
}

bool SymbolicRun::ordered(std::size_t number, const Access& earlier) const {
  return earlier.count == 0 || work_[number].clock[earlier.lane] >= earlier.count;
}

void SymbolicRun::complain_of_race(std::size_t number, const Access& other, std::int64_t element) {
  const LaneState& lane = lanes_[other.lane];
  complain(ViolationKind::kRace, number, {lane.rank, lane.lane, element},
           "accesses element {}, which step {} of rank {} lane {} may access at the same time "
           "(data race)",
           element, other.count - 1, lane.rank, lane.lane);
}

void SymbolicRun::note_read(std::size_t number, SymbolicBuffer::Cell& cell, std::int64_t element) {
  if (!ordered(number, cell.written)) return complain_of_race(number, cell.written, element);
  const Access access{static_cast<std::uint32_t>(number), work_[number].clock[number]};
  // Store only the latest read of each lane, because the lane's earlier reads are ordered before
  // it.
  for (Access& earlier : cell.read) {
    if (earlier.lane != access.lane) continue;
    earlier = access;
    return;
  }
  cell.read.push_back(access);
}

void SymbolicRun::note_write(std::size_t number, SymbolicBuffer::Cell& cell, std::int64_t element) {
  if (!ordered(number, cell.written)) return complain_of_race(number, cell.written, element);
  for (const Access& earlier : cell.read) {
    if (!ordered(number, earlier)) return complain_of_race(number, earlier, element);
  }
  cell.read.clear();
  cell.written = {static_cast<std::uint32_t>(number), work_[number].clock[number]};
}

}  // namespace tutti::core
