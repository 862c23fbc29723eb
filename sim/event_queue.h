#pragma once

// The event queue: a heap with four children per node, kept in one array. Against a binary heap it is half as deep and
// its children share a cache line or two, which is worth about a quarter of the time at the sizes that matter here
// (thousands of events). Events at the same time come out in the order of their `order` key, then of what
// they are, never of their insertion, so that what simultaneous events do can be told from the scenario alone.

#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace tutti::sim {

enum class EventKind : std::uint32_t {
  kCompute,  ///< `a`: the replica whose compute stream finished a task
  kLane,     ///< `a`: instance, `b`: lane that can go on
  kStart,    ///< `a`: instance, `b`: rank that takes part from now on
  kHop,      ///< `a`: message, `b`: hop that its head reaches
  kSent,     ///< `a`: message that has left its sender's buffer (only where that was not known before)
  kDeliver,  ///< `a`: message, `b`: receiver it has reached as a whole
  kChange,   ///< `a`: which link's bandwidth changes
  kShare,    ///< `a`: of FairLinks; after all other events of its time
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

class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

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

  /// Puts `event` in place of the root and moves it down.
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

}  // namespace tutti::sim
