// A lane is a state machine: run() executes the lane's steps until a step has to wait. The event
// that ends the wait (a message, a free slot, completed work, progress of another lane) puts the
// lane into the queue `ready_`. One thread therefore executes any number of lanes, and no call
// blocks. A lane has two counters. `next` is the current step. `done` is the number of steps that
// are complete including their sends. The steps from `done` to `next` - 1 are in `unsent_steps`:
// their data is still being sent. Other lanes see only `done`, and must_wait_for_sends() prevents
// steps from overwriting data that is still being sent. Closed collectives are kept and reopened in
// later training steps, because creating their lanes takes longer than resetting them. Messages are
// handled in sending.cpp and receiving.cpp.

#include "real/interpreter/interpreter.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "real/interpreter/state.h"

namespace tutti::real {

using core::Buffer;
using core::Range;
using core::Rank;
using core::Step;
using core::StepKind;
using Clock = Transport::Clock;

namespace {

/// A lane with at most this number of steps caches all of its steps, in at most 10 KiB.
constexpr std::int64_t kFewSteps = 64;

}  // namespace

Interpreter::Interpreter(Transport& transport, Devices& devices, InterpreterListener& listener,
                         bool watch_steps)
    : transport_(transport),
      devices_(devices),
      listener_(listener),
      watch_steps_(watch_steps),
      serial_steps_(!devices.at_once()),
      piece_bytes_(transport.piece_bytes()) {}
Interpreter::~Interpreter() = default;

// --- collectives ---

void Interpreter::open(CollectiveTag tag, const core::Collective& collective, Operation operation,
                       const std::vector<Rank>& ranks, const std::vector<std::byte*>& data) {
  TUTTI_CHECK(ranks.size() == data.size() && !instances_.contains(tag),
              "step {} pack {}: {} ranks, {} buffers", tag.step, tag.pack, ranks.size(),
              data.size());
  last_opened_ = std::max(last_opened_, tag);
  Instance* const again = reopen(tag, collective, ranks);
  Instance& instance = again ? *again : *(instances_[tag] = fresh(collective, ranks));
  instance.tag = tag;
  instance.operation = operation;
  for (std::size_t i = 0; i < ranks.size(); ++i) instance.ranks[i].data = data[i];
}

std::unique_ptr<Interpreter::Instance> Interpreter::fresh(const core::Collective& collective,
                                                          const std::vector<Rank>& ranks) {
  auto instance = std::make_unique<Instance>();
  instance->collective = &collective;
  instance->schedule = collective.schedule.get();
  instance->ranks_in_all = instance->schedule->ranks();
  instance->item = core::size_of(collective.type).count();
  instance->bytes = collective.bytes().count();  // no message is longer than the collective
  instance->places.assign(instance->ranks_in_all, -1);
  instance->ranks.resize(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Rank rank = ranks[i];
    instance->places[rank] = static_cast<std::int32_t>(i);
    Local& local = instance->ranks[i];
    local.rank = rank;
    local.scratch = devices_.take(rank, instance->schedule->scratch(rank) * instance->item, false);
    local.lanes.resize(instance->schedule->lanes(rank));
    for (std::size_t l = 0; l < local.lanes.size(); ++l)
      make_lane(*instance, local, static_cast<core::Lane>(l), devices_.host_reaches(rank));
  }
  return instance;
}

void Interpreter::make_lane(Instance& instance, Local& local, core::Lane number,
                            bool host_reaches) {
  Lane& lane = local.lanes[number];
  lane.instance = &instance;
  lane.local = &local;
  lane.rank = local.rank;
  lane.number = number;
  lane.steps = instance.schedule->steps(lane.rank, number);
  lane.credits = instance.schedule->credits(lane.rank, number);
  lane.host_reaches = host_reaches;
  for (std::int64_t s = 0; lane.steps <= kFewSteps && s < lane.steps; ++s)
    lane.known.push_back(known_step(lane, s));
  for (std::int64_t s = 0; s < lane.steps; ++s) {
    const StepKind kind = instance.schedule->step(lane.rank, number, s).kind;
    TUTTI_CHECK(kind != StepKind::kSwitchReduce,
                "rank {} lane {}: a real run has no switch that reduces", lane.rank, number);
    if (!core::receives(kind)) continue;
    lane.receives_any = kind == StepKind::kReceiveAny;
    break;
  }
}

Interpreter::Known Interpreter::known_step(const Lane& lane, std::int64_t index) {
  const core::Schedule& schedule = *lane.instance->schedule;
  Known known{schedule.step(lane.rank, lane.number, index)};
  const Step& step = known.step;
  if (core::receives(step.kind) && step.kind != StepKind::kReceiveAny)
    known.from = step.from.rank(lane.rank, lane.instance->ranks_in_all);
  if (core::sends(step.kind) && step.kind != StepKind::kMulticast) {
    known.to = step.to.rank(lane.rank, lane.instance->ranks_in_all);
    known.credits = schedule.credits(known.to, step.to.lane);
  }
  return known;
}

/// Reopens a closed collective of the same kind for `tag`. Returns null if no closed collective of
/// this kind exists.
Interpreter::Instance* Interpreter::reopen(CollectiveTag tag, const core::Collective& collective,
                                           const std::vector<Rank>& ranks) {
  const auto same = [&](const Instances::node_type& node) {
    const Instance& instance = *node.mapped();
    return instance.collective == &collective && instance.schedule == collective.schedule.get() &&
           std::equal(ranks.begin(), ranks.end(), instance.ranks.begin(), instance.ranks.end(),
                      [](Rank rank, const Local& local) { return rank == local.rank; });
  };
  const auto found = std::find_if(free_instances_.begin(), free_instances_.end(), same);
  if (found == free_instances_.end()) return nullptr;
  std::swap(*found, free_instances_.back());
  Instance* const instance = free_instances_.back().mapped().get();
  free_instances_.back().key() = tag;
  // The new tag is usually larger than all other tags, so insert it at the end.
  instances_.insert(instances_.end(), std::move(free_instances_.back()));
  free_instances_.pop_back();
  for (Local& local : instance->ranks) {
    local.started = false;
    for (Lane& lane : local.lanes) {
      lane.state = Lane::State::kNotStarted;
      lane.next = lane.done = 0;
      lane.begun = false;
      lane.any.clear();
      for (const std::unique_ptr<Connection>& connection : lane.connections) {
        connection->channel.collective = tag;
        connection->messages.clear();
        connection->begun = 0;
      }
    }
  }
  instance->slots_used.clear();
  instance->waiting_for_slot.clear();
  return instance;
}

void Interpreter::start(CollectiveTag tag, Rank rank) {
  Instance& instance = *find(tag);
  Local& local = instance.ranks[instance.places[rank]];
  local.started = true;
  local.lanes_left = static_cast<std::int32_t>(local.lanes.size());
  if (local.lanes.empty()) return listener_.rank_done(tag, rank);
  const Clock::time_point now = watch_steps_ ? transport_.now() : Clock::time_point();
  for (Lane& lane : local.lanes) {
    lane.began = lane.waited = now;
    make_ready(lane);
  }
}

void Interpreter::close(CollectiveTag tag) {
  Instances::node_type entry = instances_.extract(tag);
  TUTTI_CHECK(!entry.empty(), "step {} pack {} is not open", tag.step, tag.pack);
  if (last_found_ == entry.mapped().get()) last_found_ = nullptr;
  free_instances_.push_back(std::move(entry));
}

Interpreter::Instance* Interpreter::find(CollectiveTag tag) {
  if (last_found_ && last_found_->tag == tag) return last_found_;
  const auto found = instances_.find(tag);
  if (found == instances_.end()) return nullptr;
  return last_found_ = found->second.get();
}

Interpreter::Lane& Interpreter::lane_of(Instance& instance, Rank rank, core::Lane lane) {
  const std::int32_t place = instance.places[rank];
  return instance.ranks[place].lanes[lane];
}

std::byte* Interpreter::at(const Lane& lane, const Range& range) const {
  std::byte* const base =
      range.buffer == Buffer::kData ? lane.local->data : lane.local->scratch.get();
  return base + range.offset * lane.instance->item;
}

/// Returns the connection on which the current step sends.
Channel Interpreter::outgoing(const Lane& lane) const {
  return {lane.instance->tag, lane.rank, lane.number, lane.now->to, lane.now->step.to.lane};
}

/// Returns a Work for the current step, with its ranges and its element type. The caller sets the
/// operation.
Work Interpreter::work_of(const Lane& lane, Work::Kind kind) const {
  Work work;
  work.kind = kind;
  work.rank = lane.rank;
  work.lane = lane.number;
  work.operation = lane.instance->operation;
  work.type = lane.instance->collective->type;
  return work;
}

/// Returns the address at which the current step stores the received data.
std::byte* Interpreter::target_of(const Lane& lane) const {
  const Step& step = lane.now->step;
  Range target = step.target;
  if (step.kind == StepKind::kReceiveAny)
    target.offset +=
        step.stride * lane.instance->schedule->arrival_slot(lane.rank, lane.number, lane.peer);
  return at(lane, target);
}

// --- lanes ---

void Interpreter::make_ready(Lane& lane) {
  lane.state = Lane::State::kReady;
  if (lane.queued) return;
  lane.queued = true;
  ready_.push_back(&lane);
}

void Interpreter::run_ready() {
  while (!ready_.empty()) {
    Lane& lane = *ready_.front();
    ready_.pop_front();
    lane.queued = false;
    if (lane.state == Lane::State::kReady) run(lane);
  }
}

core::Expected<void> Interpreter::poll() {
  run_ready();
  if (!failure_.empty())
    return tl::make_unexpected(core::Error::run({core::ProblemCode::kProtocol}, failure_));
  return {};
}

Clock::time_point Interpreter::next_due() const {
  return has_ready() ? Clock::time_point() : Clock::time_point::max();
}

void Interpreter::run(Lane& lane) {
  while (lane.state == Lane::State::kReady) {
    if (lane.next == lane.steps) {
      if (lane.unsent_steps.empty()) return finish(lane);
      lane.state = Lane::State::kSending;
      return;
    }
    if (!begin(lane)) return;
  }
}

/// Starts the current step, or continues it after a wait. Returns false if the lane has to wait.
bool Interpreter::begin(Lane& lane) {
  if (!lane.begun) {
    if (lane.known.empty()) lane.requested = known_step(lane, lane.next);
    lane.now = lane.known.empty() ? &lane.requested : &lane.known[lane.next];
    const core::Wait& wait = lane.now->step.wait;
    if (wait.lane >= 0) {
      Lane& other = lane.local->lanes[wait.lane];
      if (other.done < wait.count) {
        lane.state = Lane::State::kOnLane;
        other.waiting.push_back(&lane);
        return false;
      }
    }
    if (!lane.unsent_steps.empty() && must_wait_for_sends(lane)) {
      lane.state = Lane::State::kSending;
      return false;
    }
    lane.begun = true;
    lane.consumed = lane.finished = 0;
    lane.passing_on = lane.holds = false;
    lane.in = nullptr;
    lane.peer = lane.peer_lane = -1;
  }
  const Step& step = lane.now->step;
  if (core::receives(step.kind)) return take_message(lane);
  if (step.kind == StepKind::kSend) {
    if (!acquire_slot(lane)) return false;
    send_whole(lane, at(lane, step.source), step.source.count * lane.instance->item);
    return lane.state == Lane::State::kReady;
  }
  if (step.kind == StepKind::kMulticast) {
    send_multicast(lane);
    return lane.state == Lane::State::kReady;
  }
  return work(lane);
}

/// Executes the current step if it is a reduction, a copy or a scaling inside the rank. Returns
/// false if the device has not completed the work yet.
bool Interpreter::work(Lane& lane) {
  const Step& step = lane.now->step;
  if (step.kind == StepKind::kNop) {
    pass(lane);
    return true;
  }
  Work work = work_of(lane, Work::Kind::kCopy);
  switch (step.kind) {
    case StepKind::kCopy: break;
    case StepKind::kScale:
    case StepKind::kUpdate: work.kind = Work::Kind::kScale; break;  // an update's factor is 1
    case StepKind::kReduce: work.kind = Work::Kind::kReduce; break;
    default:
      TUTTI_CHECK(false, "rank {} lane {}: no work of kind {}", lane.rank, lane.number,
                  static_cast<int>(step.kind));
  }
  work.target = at(lane, step.target);
  work.a = at(lane, step.source);
  work.count = step.target.count;
  work.inputs = step.inputs;
  work.stride = step.stride * lane.instance->item;
  work.accumulate = step.accumulate;
  work.factor = step.factor;
  const Ticket ticket = ++next_ticket_;
  if (devices_.perform(work, ticket)) {
    pass(lane);
    return true;
  }
  works_.try_emplace(ticket, PendingWork{PendingWork::What::kStep, &lane, nullptr, 0, 0, {}, {}});
  lane.state = Lane::State::kOnDevice;
  return false;
}

void Interpreter::worked(Ticket ticket) {
  auto entry = works_.extract(ticket);
  TUTTI_CHECK(!entry.empty(), "no work has ticket {}", ticket);
  PendingWork& done = entry.mapped();
  Lane& lane = *done.lane;
  switch (done.what) {
    case PendingWork::What::kStep:
      pass(lane);
      make_ready(lane);
      return;
    case PendingWork::What::kPieceIn:
      piece_done(lane, done.result, done.offset, done.length);
      if (lane.state == Lane::State::kReady) make_ready(lane);
      return;
    case PendingWork::What::kPieceOut: {
      const std::byte* const bytes = done.room.get();
      const Ticket way = next_ticket();
      take_ticket(lane, std::move(done.room));
      if (transport_.send(done.piece, bytes, way)) sent(way);
    }
  }
}

/// Ends the current step, and continues the lane. The data that the step sends may still be in this
/// rank's memory.
void Interpreter::pass(Lane& lane) {
  if (watch_steps_) {
    const StepDone done{lane.instance->tag, lane.rank,     lane.number, lane.next,
                        lane.now->step,     lane.began,    lane.waited, transport_.now(),
                        lane.peer,          lane.peer_lane};
    if (serial_steps_ && lane.unsent > 0) {
      lane.leaving = done;
    } else {
      listener_.step_done(done);
    }
  }
  ++lane.next;
  lane.begun = false;
  lane.state = Lane::State::kReady;
  if (watch_steps_) lane.began = lane.waited = transport_.now();
  // Steps are counted as complete in program order. If an earlier step still has unsent data, this
  // step is therefore counted as complete later.
  if (lane.unsent == 0 && lane.unsent_steps.empty()) {
    lane.done = lane.next;
    return count_complete(lane);
  }
  const Step& step = lane.now->step;
  UnsentStep unsent_steps{std::exchange(lane.unsent, 0), {}, {}};
  if (step.kind == StepKind::kReceiveReduceSend) {
    unsent_steps.kept = std::move(lane.kept);
    lane.kept_bytes = 0;
  } else if (core::sends(step.kind)) {
    unsent_steps.source = core::receives(step.kind) ? step.target : step.source;
  }
  lane.unsent_steps.push_back(std::move(unsent_steps));
}

/// Counts the steps that are complete, and continues lanes that waited for these steps.
void Interpreter::count_complete(Lane& lane) {
  if (lane.waiting.empty()) return;
  std::sort(lane.waiting.begin(), lane.waiting.end(),
            [](const Lane* a, const Lane* b) { return a->number < b->number; });
  std::size_t still = 0;
  for (Lane* const waiter : lane.waiting) {
    if (lane.done < waiter->now->step.wait.count) {
      lane.waiting[still++] = waiter;
      continue;
    }
    if (watch_steps_) waiter->waited = transport_.now();
    make_ready(*waiter);
  }
  lane.waiting.resize(still);
}

/// Returns true if the current step must wait until earlier steps have sent their data.
bool Interpreter::must_wait_for_sends(const Lane& lane) const {
  constexpr std::size_t kMaxUnsentSteps = 16;
  const Step& step = lane.now->step;
  if (serial_steps_ || step.kind == StepKind::kReceiveAny ||
      lane.unsent_steps.size() >= kMaxUnsentSteps)
    return true;
  const bool writes_none = step.kind == StepKind::kSend || step.kind == StepKind::kMulticast ||
                           step.kind == StepKind::kReceiveReduceSend;
  if (writes_none) return false;
  return std::any_of(lane.unsent_steps.begin(), lane.unsent_steps.end(), [&](const UnsentStep& d) {
    return d.unsent > 0 && d.source.buffer == step.target.buffer &&
           d.source.offset < step.target.end() && step.target.offset < d.source.end();
  });
}

void Interpreter::finish(Lane& lane) {
  lane.state = Lane::State::kDone;
  if (--lane.local->lanes_left == 0) listener_.rank_done(lane.instance->tag, lane.rank);
}

std::string Interpreter::progress_text() const {
  std::string text;
  int listed = 0;
  for (const auto& [tag, instance] : instances_) {
    for (const Local& local : instance->ranks) {
      if (!local.started) continue;
      for (const Lane& lane : local.lanes) {
        const char* state = nullptr;
        switch (lane.state) {
          case Lane::State::kOnLane: state = "waits for another lane"; break;
          case Lane::State::kOnMessage: state = "waits for a message"; break;
          case Lane::State::kInMessage: state = "has received only a part of a message"; break;
          case Lane::State::kOnDevice: state = "waits for its device"; break;
          case Lane::State::kOnSlot: state = "waits for a free slot"; break;
          case Lane::State::kSending: state = "is sending"; break;
          default: continue;
        }
        if (++listed > 4) return text + ", …";
        text +=
            fmt::format("{}rank {} lane {} {} (pack {}, step {} of {}{})", text.empty() ? "" : ", ",
                        lane.rank, lane.number, state, tag.pack, lane.next, lane.steps,
                        lane.now->from < 0 ? "" : fmt::format(", from rank {}", lane.now->from));
      }
    }
  }
  return text;
}

}  // namespace tutti::real
