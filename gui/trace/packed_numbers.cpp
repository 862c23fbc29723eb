#include "gui/trace/packed_numbers.h"

#include <algorithm>
#include <bit>

namespace tutti::gui {

namespace {

constexpr std::size_t kWord = 64;  // bits

/// Returns `number` - `least`. The difference of any two integers fits into an unsigned integer.
std::uint64_t distance(std::int64_t number, std::int64_t least) {
  return static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(least);
}

}  // namespace

void PackedNumbers::push_back(std::int64_t number) {
  pending_.push_back(number);
  if (pending_.size() == kBlock) pack();
}

void PackedNumbers::pack() {
  const auto [least, largest] = std::minmax_element(pending_.begin(), pending_.end());
  const auto bits = static_cast<std::size_t>(std::bit_width(distance(*largest, *least)));
  const std::size_t first = words_.size();
  words_.resize(first + bits);
  for (std::size_t i = 0; i < kBlock && bits > 0; ++i) {
    const std::uint64_t difference = distance(pending_[i], *least);
    const std::size_t word = first + i * bits / kWord, shift = i * bits % kWord;
    words_[word] |= difference << shift;
    if (shift + bits > kWord) words_[word + 1] |= difference >> (kWord - shift);
  }
  least_.push_back(*least);
  first_word_.push_back(static_cast<std::uint32_t>(words_.size()));
  pending_.clear();
}

void PackedNumbers::shrink_to_fit() {
  least_.shrink_to_fit();
  first_word_.shrink_to_fit();
  words_.shrink_to_fit();
  pending_.shrink_to_fit();
}

std::int64_t PackedNumbers::operator[](std::size_t i) const {
  const std::size_t block = i / kBlock;
  if (block == least_.size()) return pending_[i % kBlock];
  const std::size_t first = first_word_[block], bits = first_word_[block + 1] - first;
  if (bits == 0) return least_[block];
  const std::size_t at = i % kBlock * bits;
  const std::size_t word = first + at / kWord, shift = at % kWord;
  std::uint64_t difference = words_[word] >> shift;
  if (shift + bits > kWord) difference |= words_[word + 1] << (kWord - shift);
  if (bits < kWord) difference &= (std::uint64_t{1} << bits) - 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(least_[block]) + difference);
}

std::size_t PackedNumbers::memory() const {
  return least_.capacity() * sizeof(least_[0]) + first_word_.capacity() * sizeof(first_word_[0]) +
         words_.capacity() * sizeof(words_[0]) + pending_.capacity() * sizeof(pending_[0]);
}

}  // namespace tutti::gui
