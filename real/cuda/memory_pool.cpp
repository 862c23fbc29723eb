#include "real/cuda/memory_pool.h"

#include <bit>

#include "core/base/check.h"

namespace tutti::real {

std::int64_t block_bytes(std::int64_t bytes) {
  constexpr std::int64_t kMin = 512;
  if (bytes <= kMin) return kMin;
  const auto below =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes - 1)));
  const std::int64_t part = below / 8;
  return (bytes + part - 1) / part * part;
}

MemoryPool::~MemoryPool() {
  for (const auto& [memory, block] : blocks_) {
    std::byte* const start = const_cast<std::byte*>(memory);
    static_cast<void>(block.place == kHost ? api_.release_host(start)
                                           : api_.release(block.place, start));
  }
}

int MemoryPool::allocate(int device, bool host, std::int64_t bytes, std::byte*& memory) {
  void* got = nullptr;
  const auto size = static_cast<std::uint64_t>(bytes);
  const int error =
      host ? api_.allocate_host(device, size, &got) : api_.allocate(device, size, &got);
  memory = static_cast<std::byte*>(got);
  return error;
}

std::byte* MemoryPool::take(int device, bool host, std::int64_t bytes, int& error) {
  error = 0;
  const int place = host ? kHost : device;
  const std::int64_t size = block_bytes(bytes);
  if (const auto unused = unused_.find({place, size});
      unused != unused_.end() && !unused->second.empty()) {
    std::byte* const memory = unused->second.back();
    unused->second.pop_back();
    return memory;
  }
  std::byte* memory = nullptr;
  error = allocate(device, host, size, memory);
  if (error == kTuttiCudaOutOfMemory) {
    release_unused(place);
    error = allocate(device, host, size, memory);
  }
  if (error != 0) return nullptr;
  blocks_[memory] = {place, size};
  return memory;
}

void MemoryPool::give_back(std::byte* memory) {
  const auto block = blocks_.find(memory);
  TUTTI_CHECK(block != blocks_.end(), "{} is not from this pool", static_cast<const void*>(memory));
  unused_[{block->second.place, block->second.bytes}].push_back(memory);
}

void MemoryPool::release_unused(int place) {
  for (auto& [key, memories] : unused_) {
    if (key.first != place) continue;
    for (std::byte* const memory : memories) {
      static_cast<void>(place == kHost ? api_.release_host(memory) : api_.release(place, memory));
      blocks_.erase(memory);
    }
    memories.clear();
  }
}

int MemoryPool::device_of(const std::byte* memory) const {
  auto block = blocks_.upper_bound(memory);
  if (block == blocks_.begin()) return kHost;
  --block;
  return memory < block->first + block->second.bytes ? block->second.place : kHost;
}

std::int64_t MemoryPool::bytes_of(int device) const {
  std::int64_t bytes = 0;
  for (const auto& [memory, block] : blocks_) bytes += block.place == device ? block.bytes : 0;
  return bytes;
}

}  // namespace tutti::real
