#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace tutti::real {

/// A stretch of this process's address space, given back at its end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  [[nodiscard]] std::byte* begin() const { return begin_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

/// When the pages of a mapping are first touched, which takes longer than using them.
enum class Touch : std::uint8_t { kLater, kNow };

/// Memory that processes of one machine share: it has no name in any file system, so nothing is left of it once the last
/// process that has it open is gone, however that ends. Its length can't be changed any more by anyone.
class SharedMemory {
 public:
  /// Zeros. ERRORS: the system has none left.
  static core::Expected<SharedMemory> create(std::size_t bytes);
  /// That of another process of the same user, by what number() answered there.
  /// ERRORS: the process or its memory cannot be reached; it is of another length, or could still change it.
  static core::Expected<SharedMemory> open(std::int64_t process, int number, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] int number() const { return file_; }
  /// ERRORS: no address space left. REQUIRES here and below: offset and bytes are multiples of the page size.
  core::Expected<Mapping> map(std::size_t offset, std::size_t bytes) const;
  /// The same bytes twice, one behind the other: a ring in which nothing has a gap.
  core::Expected<Mapping> map_twice(std::size_t offset, std::size_t bytes, Touch touch = Touch::kLater) const;

 private:
  explicit SharedMemory(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace tutti::real
