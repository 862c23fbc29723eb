#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tutti::sim {

/// A FIFO queue that is usually empty or short. Every replica has such a queue, so an empty queue
/// must not allocate memory. A std::deque would allocate some 600 bytes before its first element.
/// Adding and removing an element take amortized constant time.
template <class T>
class ShortQueue {
 public:
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return elements_.size() - taken_; }
  [[nodiscard]] const T& front() const { return elements_[taken_]; }
  void push_back(T element) { elements_.push_back(std::move(element)); }
  void pop_front() {
    // Removed elements stay in the vector until they make up half of it; then they are erased
    // together.
    if (++taken_ * 2 < elements_.size()) return;
    elements_.erase(elements_.begin(), elements_.begin() + taken_);
    taken_ = 0;
  }
  [[nodiscard]] auto begin() { return elements_.begin() + taken_; }
  [[nodiscard]] auto end() { return elements_.end(); }
  [[nodiscard]] auto begin() const { return elements_.begin() + taken_; }
  [[nodiscard]] auto end() const { return elements_.end(); }

 private:
  std::vector<T> elements_;
  std::size_t taken_ = 0;  ///< number of elements at the front of the vector that were removed from
                           ///< the queue
};

}  // namespace tutti::sim
