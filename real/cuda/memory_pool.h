#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "real/cuda/api.h"

namespace tutti::real {

/// A pool of device memory and of pinned host memory. Freed blocks are kept for the next request of
/// the same size. An allocation by CUDA would take from tens of microseconds to milliseconds, and
/// would interrupt the device's work.
class MemoryPool {
 public:
  static constexpr int kHost = -1;

  /// REQUIRES: `api` outlives the pool.
  explicit MemoryPool(const TuttiCudaApi& api) : api_(api) {}
  /// Frees all memory. REQUIRES: no device uses the pool's memory any more.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Returns a block of at least `bytes` bytes of the device's memory. If `host` is true, returns
  /// host memory that the device can access. If memory is exhausted, the pool first returns its
  /// unused blocks to CUDA. On an error, returns null and sets `error` to CUDA's error number.
  /// REQUIRES: bytes > 0.
  std::byte* take(int device, bool host, std::int64_t bytes, int& error);
  /// Returns a block to the pool. REQUIRES: `memory` is a result of take(), and is no longer in
  /// use.
  void give_back(std::byte* memory);

  /// Returns the device whose memory contains `memory`, or kHost for host memory, pinned or not.
  [[nodiscard]] int device_of(const std::byte* memory) const;
  /// Returns the number of bytes that the pool has allocated on a device, including unused blocks.
  [[nodiscard]] std::int64_t bytes_of(int device) const;

 private:
  struct Block {
    int place = kHost;
    std::int64_t bytes = 0;
  };

  int allocate(int device, bool host, std::int64_t bytes, std::byte*& memory);
  void release_unused(int place);

  const TuttiCudaApi& api_;
  std::map<const std::byte*, Block> blocks_;
  /// The unused blocks for each pair of location (a device number or kHost) and block size.
  std::map<std::pair<int, std::int64_t>, std::vector<std::byte*>> unused_;
};

/// Returns the size of the block that is allocated for `bytes`. Between consecutive powers of two
/// there are eight block sizes, so that at most an eighth of a block is wasted. REQUIRES: bytes >
/// 0.
std::int64_t block_bytes(std::int64_t bytes);

}  // namespace tutti::real
