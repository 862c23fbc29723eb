#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "real/cuda/api.h"

namespace tutti::real {

/// A pool of device memory and of host pages that devices can access. Freed blocks are kept for the
/// next request of the same size: asking CUDA costs from tens of microseconds to milliseconds, and
/// stops what the device is doing.
class MemoryPool {
 public:
  static constexpr int kHost = -1;

  /// REQUIRES: the table outlives the pool.
  explicit MemoryPool(const TuttiCudaApi& api) : api_(api) {}
  /// REQUIRES: no device uses its memory any more.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Returns `bytes` of the device's memory, or with `host` of host pages that it can access. If
  /// there is no more, unused blocks are returned to CUDA first. ERRORS: null, and CUDA's number in
  /// `error`. REQUIRES: bytes > 0.
  std::byte* take(int device, bool host, std::int64_t bytes, int& error);
  /// REQUIRES: from take(); nothing uses it any more.
  void give_back(std::byte* memory);

  /// Returns the device whose memory `memory` points into, or kHost if it is host memory (pinned or
  /// not).
  [[nodiscard]] int device_of(const std::byte* memory) const;
  /// Returns the bytes allocated on a device, including unused blocks.
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
  /// Free blocks by place and size.
  std::map<std::pair<int, std::int64_t>, std::vector<std::byte*>> unused_;
};

/// Returns the size of a block for `bytes`: eight sizes up to each power of two, so that at most an
/// eighth is lost. REQUIRES: bytes > 0.
std::int64_t block_bytes(std::int64_t bytes);

}  // namespace tutti::real
