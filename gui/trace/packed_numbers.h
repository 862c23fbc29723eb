#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::gui {

/// An array of integers that takes little memory if neighbouring integers are similar. A block of
/// 64 integers stores its smallest integer, and the difference of each integer to the smallest one,
/// with as many bits as the largest difference needs. Memory: 0.2 bytes per integer, plus the bits
/// of the differences. A block of equal integers needs no bits.
class PackedNumbers {
 public:
  /// REQUIRES: the array has fewer than 2^32 - 1 integers.
  void push_back(std::int64_t number);
  /// Releases memory that is reserved for further integers.
  void shrink_to_fit();

  [[nodiscard]] std::size_t size() const { return least_.size() * kBlock + pending_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Returns integer `i`. Cost: constant. REQUIRES: i < size().
  [[nodiscard]] std::int64_t operator[](std::size_t i) const;

  /// Returns the memory in use, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kBlock = 64;

  void pack();

  std::vector<std::int64_t> least_;  ///< the smallest integer of each block
  /// The first word of each block in `words_`, and the end of the last block. A block has as many
  /// words as its differences have bits.
  std::vector<std::uint32_t> first_word_{0};
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> pending_;  ///< the integers of the last block, which is not full
};

}  // namespace tutti::gui
