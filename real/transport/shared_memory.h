#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace tutti::real {

/// A mapped range of this process's address space, unmapped by the destructor.
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

/// Selects when the pages of a mapping are accessed for the first time, because the first access to
/// a page is slow. kNow: when the mapping is made. kLater: when the data is used.
enum class Touch : std::uint8_t { kLater, kNow };

/// Memory that processes of one machine share. The memory has no name in any file system, so it is
/// freed when the last process that uses it ends for any reason. The length is sealed, so that no
/// process can change it.
class SharedMemory {
 public:
  /// Creates zeroed memory. ERRORS: the system has no free memory.
  static core::Expected<SharedMemory> create(std::size_t bytes);
  /// Opens the memory of another process of the same user. `number` is the result of number() in
  /// the other process. ERRORS: the process or its memory cannot be accessed; the memory is not
  /// sealed, or its length is not `bytes`.
  static core::Expected<SharedMemory> open(std::int64_t process, int number, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] int number() const { return file_; }
  /// Maps a range of the memory. ERRORS: no address space is left. REQUIRES for this and the
  /// following function: `offset` and `bytes` are multiples of the page size.
  core::Expected<Mapping> map(std::size_t offset, std::size_t bytes) const;
  /// Maps the same bytes twice in succession. If a ring is mapped in this way, every range of the
  /// ring is contiguous in the address space, even a range that continues at the start of the ring.
  core::Expected<Mapping> map_twice(std::size_t offset, std::size_t bytes,
                                    Touch touch = Touch::kLater) const;

 private:
  explicit SharedMemory(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace tutti::real
