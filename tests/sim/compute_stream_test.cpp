// A compute stream, and how communication on the same device slows it. The times are compared with
// closed forms, and with an integrator that advances picosecond by picosecond.

#include "sim/device/compute_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/random.h"

namespace tutti::sim {
namespace {

using core::Time;

core::Part gpu(int multiprocessors, std::int64_t memory_bytes_per_s = 1'000'000'000'000,
               int threads = 1) {
  core::Part part;
  part.device.memory = core::Bandwidth(memory_bytes_per_s);
  part.device.multiprocessors = multiprocessors;
  part.device.threads = threads;
  return part;
}

core::Part cpu(int threads) {
  core::Part part = gpu(0, 1'000'000'000'000, threads);
  part.kind = core::PartKind::kCpu;
  return part;
}

/// An action of communication on the device at a time.
struct Action {
  enum Kind { kHold, kGiveBack, kMove, kArrive, kServe } kind = kHold;
  Time at;
  std::int64_t bytes = 0;
  Time start, end, duration;  ///< of a service
};

/// A device on which a test schedules actions.
class Device {
 public:
  explicit Device(const core::Part& part) { stream_.share(part); }

  void hold(Time from, Time to) {
    actions_.push_back({Action::kHold, from, 0, {}, {}, {}});
    actions_.push_back({Action::kGiveBack, to, 0, {}, {}, {}});
  }
  void move(Time at, std::int64_t bytes) {
    actions_.push_back({Action::kMove, at, bytes, {}, {}, {}});
  }
  void arrive(Time at, std::int64_t bytes) {
    actions_.push_back({Action::kArrive, at, bytes, {}, {}, {}});
  }
  void serve(Time requested, Time start, Time end, Time duration) {
    actions_.push_back({Action::kServe, requested, 0, start, end, duration});
  }

  /// Returns the ends of tasks that run in sequence from `start` on. `actions_first`: at equal
  /// times, actions of communication come before the starts and ends of tasks.
  std::vector<Time> run(Time start, const std::vector<Time>& durations, std::int64_t compute_bound,
                        bool actions_first = false) {
    const Time margin(actions_first ? 1 : 0);
    std::stable_sort(actions_.begin(), actions_.end(),
                     [](const Action& a, const Action& b) { return a.at < b.at; });
    std::vector<Time> ends;
    EventQueue events;
    std::size_t next = 0;
    bool begun = false;
    while (next < actions_.size() || !begun || !events.empty()) {
      const Time action = next < actions_.size() ? actions_[next].at : core::kNever;
      if (!begun && start + margin <= action) {
        begun = true;
        stream_.begin(start, durations[0], compute_bound, events);
        continue;
      }
      if (!events.empty()) {
        pending_ = pending_ ? pending_ : std::optional(events.pop());
      }
      if (pending_ && pending_->time + margin <= action) {
        const Event event = *std::exchange(pending_, std::nullopt);
        if (stream_.end(event, events)) {
          ends.push_back(event.time);
          if (ends.size() < durations.size())
            stream_.begin(event.time, durations[ends.size()], compute_bound, events);
        }
        continue;
      }
      if (pending_) events.push(*std::exchange(pending_, std::nullopt));
      if (next == actions_.size()) break;
      apply(actions_[next++], events);
    }
    return ends;
  }

  [[nodiscard]] const std::vector<Action>& actions() const { return actions_; }
  ComputeStream& stream() { return stream_; }

 private:
  void apply(const Action& action, EventQueue& events) {
    switch (action.kind) {
      case Action::kHold: return stream_.occupy(1, action.at, events);
      case Action::kGiveBack: return stream_.occupy(-1, action.at, events);
      case Action::kMove: return stream_.move(core::Bytes(action.bytes), action.at);
      case Action::kArrive: return stream_.moved(core::Bytes(action.bytes), action.at);
      case Action::kServe:
        return stream_.serve(action.start, action.end, action.duration, action.at);
    }
  }

  ComputeStream stream_{0};
  std::vector<Action> actions_;
  std::optional<Event> pending_;
};

constexpr std::int64_t kAll = 1'000'000;

Time end_of(Device& device, Time duration, std::int64_t compute_bound = kAll) {
  const std::vector<Time> ends = device.run(Time(), {duration}, compute_bound);
  EXPECT_EQ(ends.size(), 1u);
  return ends.empty() ? Time(-1) : ends[0];
}

TEST(ComputeStream, WithoutInterferenceATaskTakesItsTime) {
  Device device(gpu(10));
  EXPECT_EQ(end_of(device, Time(12'345)), Time(12'345));
  EXPECT_EQ(device.stream().slowed(), Time());
}

TEST(ComputeStream, RunsOnTheRemainingShareOfMultiprocessors) {
  for (int held = 0; held < 12; ++held) {
    Device device(gpu(10));
    for (int i = 0; i < held; ++i) device.hold(Time(), Time(1'000'000));
    const std::int64_t left = std::max(1, 10 - held);  // one multiprocessor is always left
    EXPECT_EQ(end_of(device, Time(1'001)), Time((10'010 + left - 1) / left)) << held;
  }
}

/// Communication holds 3 of 10 multiprocessors for 1000 ps, so 300 ps of work are missing.
TEST(ComputeStream, IsSlowedOnlyWhileMultiprocessorsAreInUse) {
  Device inside(gpu(10));
  for (int i = 0; i < 3; ++i) inside.hold(Time(500), Time(1'500));
  EXPECT_EQ(end_of(inside, Time(4'000)), Time(4'300));
  EXPECT_EQ(inside.stream().slowed(), Time(300));
  Device before(gpu(10));
  before.hold(Time(0), Time(500));
  EXPECT_EQ(before.run(Time(500), {Time(4'000)}, kAll)[0], Time(4'500));
  Device behind(gpu(10));
  behind.hold(Time(4'000), Time(9'000));
  EXPECT_EQ(end_of(behind, Time(4'000)), Time(4'000));
}

TEST(ComputeStream, MemoryTrafficOfOthersSlowsMemoryBoundTasks) {
  for (const std::int64_t bound : {std::int64_t{0}, kAll / 4, kAll}) {
    Device device(gpu(10));  // 1 byte per picosecond
    device.move(Time(0), 100);
    device.move(Time(999), 60);
    device.move(Time(5'000), 7'000);
    for (int i = 0; i < 5; ++i) device.hold(Time(200), Time(400));
    const std::int64_t lost = (kAll - bound) * 160 / kAll + bound * 100 / kAll;
    EXPECT_EQ(end_of(device, Time(1'000), bound), Time(1'000 + lost)) << bound;
  }
}

TEST(ComputeStream, InterferenceChangesOnlyLaterComputation) {
  Device device(gpu(10));
  device.arrive(Time(0), 100);
  device.arrive(Time(700), 60);
  device.arrive(Time(1'060), 500);
  EXPECT_EQ(device.run(Time(), {Time(1'000), Time(1'000)}, 0),
            (std::vector<Time>{Time(1'060), Time(2'060)}));
}

TEST(ComputeStream, SharesACpuWithAdditions) {
  Device device(cpu(4));
  // Two of four threads add for 1000 ps, so they use half of the device. A third addition starts
  // after the task has ended.
  device.serve(Time(100), Time(100), Time(1'100), Time(1'000));
  device.serve(Time(100), Time(100), Time(1'100), Time(1'000));
  device.serve(Time(100), Time(2'600), Time(3'000), Time(400));
  EXPECT_EQ(end_of(device, Time(2'000)), Time(2'500));
}

/// A task and an addition share a device with one thread. Both take twice as long while they
/// overlap.
TEST(ComputeStream, AnAdditionAndATaskShareEvenly) {
  EventQueue events;
  ComputeStream stream(0);
  stream.share(cpu(1));
  stream.begin(Time(), Time(5'000), kAll, events);
  const Time longer = stream.longer(Time(1'000), 1, Time(1'000));
  EXPECT_EQ(longer, Time(2'000));
  stream.serve(Time(1'000), Time(3'000), Time(1'000), Time(1'000));
  Event event = events.pop();
  while (!stream.end(event, events)) event = events.pop();
  EXPECT_EQ(event.time, Time(6'000));
  EXPECT_EQ(stream.longer(Time(1'000), 1, Time(6'000)), Time(1'000)) << "no computation is left";
}

TEST(ComputeStream, ReductionsCompeteOnlyWithTheMemoryBoundPart) {
  EventQueue events;
  ComputeStream stream(0);
  stream.share(gpu(10, 1'000'000'000'000, 4));
  stream.begin(Time(), Time(5'000), kAll / 4, events);
  EXPECT_EQ(stream.longer(Time(800), 1, Time(100)), Time(950));
  EXPECT_EQ(stream.longer(Time(800), 4, Time(100)), Time(1'400));
  EXPECT_EQ(stream.longer(Time(800), 9, Time(100)), Time(1'400));
  EXPECT_EQ(stream.longer(Time(800), 1, Time(0)), Time(800))
      << "interference that starts at the same time has no effect yet";
}

// --- comparison with an integrator ---

__extension__ using Signed = __int128;

Signed quotient_up(Signed a, Signed b) { return (a + b - 1) / b; }

/// Returns the ends by definition: sums up the progress picosecond by picosecond.
std::vector<Time> integrated(const core::Part& part, const std::vector<Action>& actions, Time start,
                             const std::vector<Time>& durations, std::int64_t compute_bound) {
  const bool is_cpu = part.kind == core::PartKind::kCpu;
  const Signed memory_bound = is_cpu ? kAll : kAll - compute_bound;
  const auto multiprocessors = static_cast<Signed>(part.device.multiprocessors);
  std::vector<Time> ends;
  Signed held = 0, bytes = 0;
  Time began = start;
  const auto busy_at = [&](Time t) {
    Signed sum = 0;
    for (const Action& d : actions) {
      if (d.kind != Action::kServe || t <= d.start) continue;
      const Signed all = (d.end - d.start).count(), gone = (std::min(t, d.end) - d.start).count();
      sum += static_cast<Signed>(d.duration.count()) * gone / all;
    }
    return sum;
  };
  Signed busy_before = busy_at(start);
  for (Time t = start; ends.size() < durations.size(); t += Time(1)) {
    const Signed of_bytes = quotient_up(bytes * memory_bound * core::kPicosecondsPerSecond,
                                        Signed{kAll} * part.device.memory.count());
    const Signed m = std::max<Signed>(1, multiprocessors), threads = part.device.threads;
    const Signed of_others =
        quotient_up(compute_bound * held * threads + (busy_at(t) - busy_before) * memory_bound * m,
                    kAll * m * threads);
    while (ends.size() < durations.size()) {
      const bool same = t == began;
      const Signed done = (t - began).count() - (same ? 0 : of_bytes + of_others);
      if (done < durations[ends.size()].count()) break;
      ends.push_back(t);
      began = t;
      held = bytes = 0;
      busy_before = busy_at(t);
    }
    int kernels = 0;
    for (const Action& d : actions) {
      if (d.at <= t && d.kind == Action::kHold) ++kernels;
      if (d.at <= t && d.kind == Action::kGiveBack) --kernels;
      if (d.at == t && d.kind == Action::kMove) bytes += d.bytes;
      if (d.at == t && d.kind == Action::kArrive && t > began) bytes += d.bytes;
    }
    held += std::min<Signed>(kernels, std::max<Signed>(0, multiprocessors - 1));
  }
  return ends;
}

/// Devices are small and times are short, so that an error of one multiprocessor or thread is
/// visible.
TEST(ComputeStream, EndTimesMatchANumericalIntegration) {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    core::Random random(seed);
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
    };
    const bool is_cpu = below(3) == 0;
    const int threads = static_cast<int>(1 + below(4));
    core::Part part =
        gpu(static_cast<int>(below(9)), 300'000'000'000 + below(2'000'000'000'000), threads);
    if (is_cpu) part = cpu(threads);
    Device device(part);
    for (std::int64_t i = below(8); i > 0; --i) {
      const Time from(below(1'500));
      device.hold(from, from + Time(1 + below(1'500)));
    }
    for (std::int64_t i = below(12); i > 0; --i) device.move(Time(below(1'500)), below(200));
    const bool actions_first = below(2) == 0;
    for (std::int64_t i = actions_first ? 0 : below(12); i > 0; --i)
      device.arrive(Time(below(1'500)), below(200));
    std::vector<Time> free(static_cast<std::size_t>(threads));
    Time requested;
    for (std::int64_t i = below(6); i > 0;
         --i) {  // a pool executes them in sequence on each thread
      requested += Time(below(400));
      Time& thread = *std::min_element(free.begin(), free.end());
      const Time from = std::max(thread, requested), duration(1 + below(300));
      thread = from + duration + Time(below(2) * below(duration.count() + 1));
      device.serve(requested, from, thread, duration);
    }
    std::vector<Time> durations;
    for (std::int64_t i = 1 + below(5); i > 0; --i)
      durations.push_back(Time(below(3) == 0 ? 0 : below(600)));
    const std::int64_t bound = below(3) == 0 ? kAll : below(kAll + 1);
    const Time start(below(200));
    const std::vector<Time> ends = device.run(start, durations, bound, actions_first);
    EXPECT_EQ(ends, integrated(part, device.actions(), start, durations, bound)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tutti::sim
