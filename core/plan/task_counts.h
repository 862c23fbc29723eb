#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/plan/program.h"

namespace tutti::core {

/// A hash table that stores a number for some tasks of a program, for programs with too many tasks
/// for an array. The table uses linear probing and 8 bytes per slot. While elements are added, the
/// load factor is between 1/3 and 2/3.
class TaskCounts {
 public:
  /// Returns a pointer to the task's number; null if the task has no number. The pointer is valid
  /// until the next change.
  [[nodiscard]] std::int32_t* find(TaskId task) {
    if (count_ == 0) return nullptr;
    Slot& place = places_[place_of(task)];
    return place.task == task ? &place.number : nullptr;
  }
  /// Adds a number for a task. REQUIRES: the task has none.
  void insert(TaskId task, std::int32_t number) {
    if (3 * (count_ + 1) > 2 * places_.size()) grow();
    places_[place_of(task)] = {task, number};
    ++count_;
  }
  /// Removes the number of a task. REQUIRES: the task has one.
  void erase(TaskId task) {
    const std::size_t mask = places_.size() - 1;
    std::size_t hole = place_of(task);
    for (std::size_t i = (hole + 1) & mask; places_[i].task != kNoTask; i = (i + 1) & mask) {
      // Move the entry in slot i to the empty slot, unless the entry's home slot lies between the
      // empty slot and slot i.
      if (((i - home_of(places_[i].task)) & mask) < ((i - hole) & mask)) continue;
      places_[hole] = places_[i];
      hole = i;
    }
    places_[hole] = {};
    --count_;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return places_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    TaskId task = kNoTask;
    std::int32_t number = 0;
  };

  [[nodiscard]] std::size_t home_of(TaskId task) const {
    return static_cast<std::size_t>(static_cast<std::uint32_t>(task) * 0x9e3779b9u >> shift_);
  }
  /// Returns the slot of the task or, if the task has no number, the free slot for it.
  [[nodiscard]] std::size_t place_of(TaskId task) const {
    std::size_t i = home_of(task);
    while (places_[i].task != kNoTask && places_[i].task != task)
      i = (i + 1) & (places_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Slot> old(places_.empty() ? 8 : 2 * places_.size());
    old.swap(places_);
    shift_ = 32 - std::countr_zero(places_.size());
    for (const Slot& place : old) {
      if (place.task != kNoTask) places_[place_of(place.task)] = place;
    }
  }

  std::vector<Slot> places_;
  std::size_t count_ = 0;
  int shift_ = 32;
};

}  // namespace tutti::core
