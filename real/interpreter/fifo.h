#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <boost/circular_buffer.hpp>

namespace tutti::real {

/// A FIFO queue that keeps its memory when it becomes empty, because the interpreter's queues
/// become empty very often. Cost: constant, except that growing moves all items.
template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// REQUIRES for this and the following functions: the queue is not empty.
  [[nodiscard]] T& front() { return items_.front(); }
  [[nodiscard]] T& back() { return items_.back(); }
  [[nodiscard]] const T& front() const { return items_.front(); }
  [[nodiscard]] const T& back() const { return items_.back(); }
  void push_back(T item) {
    if (items_.full()) items_.set_capacity(std::max<std::size_t>(4, 2 * items_.capacity()));
    items_.push_back(std::move(item));
  }
  void pop_front() { items_.pop_front(); }
  void clear() { items_.clear(); }

 private:
  boost::circular_buffer<T> items_;
};

}  // namespace tutti::real
