#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "real/cuda/api.h"

namespace tutti::real {

/// Memory of devices, and pages of the host that devices reach. What is given back is kept for the next that takes as
/// much: asking CUDA costs from tens of microseconds to milliseconds, and stops what the device is doing.
class MemoryPool {
 public:
  static constexpr int kHost = -1;

  /// REQUIRES: the table outlives the pool.
  explicit MemoryPool(const TuttiCudaApi& api) : api_(api) {}
  /// REQUIRES: no device uses any of it any more.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `bytes` of the device's own memory, or with `host` of pages that it reaches. If there is no more, what lies unused is
  /// handed back to CUDA first. ERRORS: null, and CUDA's number in `error`. REQUIRES: bytes > 0.
  std::byte* take(int device, bool host, std::int64_t bytes, int& error);
  /// REQUIRES: from take(); nothing uses it any more.
  void give_back(std::byte* memory);

  /// Whose memory `memory` points into: a device, or kHost if none of its pages are ours, or they are the host's.
  [[nodiscard]] int device_of(const std::byte* memory) const;
  /// Of a device, those that lie unused included.
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
  std::map<std::pair<int, std::int64_t>, std::vector<std::byte*>> unused_;  ///< by place and size
};

/// The least size that blocks for `bytes` have: eight sizes up to each power of two, so that at most an eighth is lost.
/// REQUIRES: bytes > 0.
std::int64_t block_bytes(std::int64_t bytes);

}  // namespace tutti::real
