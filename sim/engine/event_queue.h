#pragma once

// The event queue is a radix queue with 64 buckets per six-bit digit of the time (after Cherkassky,
// Goldberg and Silverstein, "Buckets, heaps, lists, and monotone priority queues", 1997). In a
// simulation, virtual time never goes back, so no event is pushed that is earlier than the last
// popped event. (The queue itself also accepts earlier events, which go to the separate heap.)
// Events in the far future therefore need not be sorted until their time comes near. An event is on
// level l of `buckets_` if digit l is the highest digit in which its time differs from `base_`;
// digit 0 is the lowest digit. When the earliest bucket is reached, it becomes the current run. The
// bucket is sorted if it is small or has only one time; otherwise its events are first distributed
// to the levels below. Events pushed into the time range of the current run go to a small separate
// heap.
//
// Each event is moved once or twice, and sorted together with a few dozen other events, however
// many events are in the queue. In a heap of n events, each event would be moved log n times. A pop
// and a push together take 5 ns with 4,096 ranks in lockstep (a heap: 55 ns), 38 ns with 4,096
// ranks out of lockstep (the same as a heap), and 52 ns with 65,536 ranks out of lockstep (a heap:
// 75 ns). These times were measured with tools/bench.sh --benchmark_filter=Hold.
//
// Simultaneous events are ordered by their `order` key, then by their other fields, never by the
// order of insertion. The result therefore depends on the scenario alone.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace tutti::sim {

enum class EventKind : std::uint32_t {
  kCompute,  ///< `a`: number of the compute stream whose task may have ended
  kLane,     ///< `a`: instance, `b`: the lane that can continue
  kStart,    ///< `a`: handle of a collective, `b`: the rank that starts it
  kHop,      ///< `a`: message, `b`: the hop that its head reaches
  kSent,     ///< `a`: message that has left its sender's buffer; used only if the time of this
             ///< event could not be computed when the message was sent
  kDeliver,  ///< `a`: message, `b`: index of a receiver, at which the whole message has arrived
  kArrive,   ///< `a`: instance, `b`: connection whose next message has arrived; used in place of
             ///< kHop and kDeliver if the times of the message were already computed when it was
             ///< sent
  kChange,   ///< `a`: index of the link whose bandwidth changes
  kTimed,    ///< `a`: instance of TimedCollectives whose next piece begins
  kTimer,    ///< `a`: number of the timer (Deadlines)
  kCycle,    ///< `a` = 0: a round of gates begins (sim/run/gates.h); `a` = 1: a round ends, and the
             ///< packs that this round released start
  kShare,    ///< `a`: stamp, by which FairLinks recognises outdated events; handled after all other
             ///< events of the same time
  kReleased,  ///< `a`: number of an occupation (the use of a link by an NCCL collective) that ends;
              ///< occupations and messages share one numbering
  kStage,     ///< `a`: instance of TimedCollectives that begins to execute a part of
              ///< StagedCollectives, `b`: rank that arrived last
};

struct Event {
  core::Time time;
  std::uint64_t order = 0;
  EventKind kind = EventKind::kCompute;
  std::uint32_t a = 0;
  std::uint32_t b = 0;

  [[nodiscard]] bool before(const Event& other) const {
    if (time != other.time) return time < other.time;
    if (order != other.order) return order < other.order;
    if (kind != other.kind) return kind < other.kind;
    return a != other.a ? a < other.a : b < other.b;
  }
};

/// A priority queue of events: a heap in which each node has four children.
class EventHeap {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& front() const { return heap_.front(); }
  [[nodiscard]] const std::vector<Event>& all() const { return heap_; }

  void push(const Event& event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!event.before(heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  /// REQUIRES: not empty.
  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  /// Replaces the root by `event` and moves it down to its place.
  void sink(const Event& event) {
    const std::size_t count = heap_.size();
    std::size_t hole = 0;
    while (true) {
      const std::size_t first = hole * kChildren + 1;
      if (first >= count) break;
      std::size_t least = first;
      const std::size_t end = first + kChildren < count ? first + kChildren : count;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(event)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
};

class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// REQUIRES: time ≥ 0. An event that is earlier than the last popped event, which simulations
  /// never push, is popped before all later events.
  void push(const Event& event) {
    ++size_;
    if (event.time <= run_end_) {
      due_heap_.push(event);
    } else {
      put_away(event);
    }
  }

  /// Returns a copy of all pending events, in no particular order. Cost: visits all buckets.
  [[nodiscard]] std::vector<Event> all() const {
    std::vector<Event> all(run_.begin() + next_, run_.end());
    all.insert(all.end(), due_heap_.all().begin(), due_heap_.all().end());
    for (const Bucket& bucket : buckets_) all.insert(all.end(), bucket.begin(), bucket.end());
    return all;
  }
  /// Replaces all pending events by the events in `some` and `more`. REQUIRES: no event is earlier
  /// than the last popped event.
  void replace(const std::vector<Event>& some, const std::vector<Event>& more) {
    *this = EventQueue();
    for (const Event& event : some) push(event);
    for (const Event& event : more) push(event);
  }

  /// REQUIRES: not empty.
  Event pop() {
    --size_;
    if (!due_heap_.empty()) {
      if (next_ == run_.size() || due_heap_.front().before(run_[next_])) return due_heap_.pop();
    } else if (next_ == run_.size()) {
      begin_run();
    }
    return run_[next_++];
  }

 private:
  using Bucket = std::vector<Event>;
  static constexpr int kDigitBits = 6;
  static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  static constexpr std::size_t kLevels = 11;  ///< number of digits of a time: 63 bits in digits of
                                              ///< 6 bits
  static constexpr std::size_t kSorted = 64;  ///< maximum size of a bucket that is sorted; the
                                              ///< events of a larger bucket are distributed to the
                                              ///< level below

  void put_away(const Event& event) {
    const auto time = static_cast<std::uint64_t>(event.time.count());
    const std::uint64_t differs = time ^ base_;
    const std::size_t level =
        differs == 0 ? 0 : static_cast<std::size_t>(std::bit_width(differs) - 1) / kDigitBits;
    const std::size_t digit = time >> (level * kDigitBits) & (kDigits - 1);
    Bucket& bucket = buckets_[level * kDigits + digit];
    if (bucket.capacity() == 0 && !spare_.empty()) {
      bucket = std::move(spare_.back());
      spare_.pop_back();
    }
    bucket.push_back(event);
    filled_[level] |= std::uint64_t{1} << digit;
    levels_ |= 1U << level;
  }

  /// Makes the bucket with the earliest events the current run. REQUIRES: there are pending events,
  /// and the current run is empty.
  void begin_run() {
    while (true) {
      const std::size_t level = std::countr_zero(levels_);
      const std::size_t digit = std::countr_zero(filled_[level]);
      filled_[level] &= filled_[level] - 1;
      if (filled_[level] == 0) levels_ &= levels_ - 1;
      keep(std::move(run_));
      run_ = std::exchange(buckets_[level * kDigits + digit], {});
      next_ = 0;
      const auto [first, last] = std::minmax_element(
          run_.begin(), run_.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
      base_ = static_cast<std::uint64_t>(first->time.count());
      if (first->time == last->time || run_.size() <= kSorted) break;
      Bucket events = std::exchange(run_, {});
      for (const Event& event : events) put_away(event);
      keep(std::move(events));
    }
    // If ranks proceed in lockstep, the events are nearly sorted already: they were added in the
    // right order, except where rank numbers wrap around.
    const auto before = [](const Event& a, const Event& b) { return a.before(b); };
    const auto middle = std::is_sorted_until(run_.begin(), run_.end(), before);
    std::sort(middle, run_.end(), before);
    std::inplace_merge(run_.begin(), middle, run_.end(), before);
    run_end_ = run_.back().time;
  }

  /// Keeps the memory of an empty bucket for later use.
  void keep(Bucket&& bucket) {
    if (bucket.capacity() == 0) return;
    bucket.clear();
    spare_.push_back(std::move(bucket));
  }

  Bucket run_;  ///< the current run: the sorted events of the earliest bucket; events before index
                ///< `next_` were popped
  std::size_t next_ = 0;
  core::Time run_end_{-1};
  EventHeap due_heap_;      ///< events pushed into the time range of the current run
  std::uint64_t base_ = 0;  ///< lower bound of the times in all buckets, in ps
  std::array<Bucket, kLevels * kDigits> buckets_;
  std::array<std::uint64_t, kLevels> filled_{};  ///< for each level, a bit mask of its non-empty
                                                 ///< buckets
  std::uint32_t levels_ = 0;                     ///< bit mask of the levels that have non-empty
                                                 ///< buckets
  std::vector<Bucket> spare_;
  std::size_t size_ = 0;
};

}  // namespace tutti::sim
