#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::core {

/// A hash table that numbers keys 0, 1, 2, … in the order in which they are added. The caller
/// stores the keys, usually in a vector indexed by number. The table uses linear probing, 8 bytes
/// per slot, and a load factor of at most 2/3. FlatIndex is used instead of std::unordered_map for
/// millions of keys, because std::unordered_map allocates memory for every key.
///
///     const auto [number, fresh] =
///         index.find_or_add(hash_of(key), [&](std::int32_t n) { return keys[n] == key; });
///     if (fresh) keys.push_back(key);
class FlatIndex {
 public:
  /// Returns the number of the key, and true if the key is new. `is_it(n)` must return true if key
  /// number n is the searched key. `is_it` is called only for keys whose hashes have the same upper
  /// 32 bits as `hash`. REQUIRES: fewer than 2^31 keys.
  template <class IsIt>
  std::pair<std::int32_t, bool> find_or_add(std::uint64_t hash, const IsIt& is_it) {
    if (3 * (static_cast<std::size_t>(size_) + 1) > 2 * slots_.size()) grow();
    const auto upper = static_cast<std::uint32_t>(hash >> 32);
    std::size_t i = home_of(upper);
    for (; slots_[i].number != kFree; i = next(i)) {
      if (slots_[i].hash == upper && is_it(slots_[i].number)) return {slots_[i].number, false};
    }
    slots_[i] = {upper, size_};
    return {size_++, true};
  }
  [[nodiscard]] std::int32_t size() const { return size_; }

  /// Returns a hash of two numbers. Even small numbers affect the upper bits of the hash.
  static std::uint64_t hash_of(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = (a * 0x9e37'79b9'7f4a'7c15u) ^ (b + 0x7f4a'7c15u);
    z = (z ^ (z >> 29)) * 0xbf58'476d'1ce4'e5b9u;
    return z ^ (z << 32);
  }

 private:
  static constexpr std::int32_t kFree = -1;
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t number = kFree;
  };

  [[nodiscard]] std::size_t home_of(std::uint32_t hash) const {
    return static_cast<std::size_t>(hash) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number == kFree) continue;
      std::size_t i = home_of(slot.hash);
      while (slots_[i].number != kFree) i = next(i);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::int32_t size_ = 0;
};

}  // namespace tutti::core
