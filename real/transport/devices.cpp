#include "real/transport/devices.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace tutti::real {
namespace {

/// Reduces block by block. A block of the result stays in the cache until all inputs have been
/// added to it.
void reduce(const Work& work) {
  constexpr std::int64_t kStretch = 16 << 10;
  const std::int64_t item = core::size_of(work.type).count();
  for (std::int64_t done = 0; done < work.count; done += kStretch) {
    const std::int64_t count = std::min(kStretch, work.count - done);
    const auto input = [&](std::int64_t i) { return work.a + i * work.stride + done * item; };
    std::byte* const sum = work.target + done * item;
    std::int64_t first = 0;
    if (!work.accumulate && work.inputs > 1) {
      combine_to(work.operation, work.type, sum, input(0), input(1), count);
      first = 2;
    } else if (!work.accumulate) {
      std::memmove(sum, input(0), static_cast<std::size_t>(count * item));
      first = 1;
    }
    for (std::int64_t i = first; i < work.inputs; ++i)
      combine(work.operation, work.type, sum, input(i), count);
  }
}

}  // namespace

void perform_here(const Work& work) {
  switch (work.kind) {
    case Work::Kind::kCombine:
      if (work.target == work.a)
        return combine(work.operation, work.type, work.target, work.b, work.count);
      return combine_to(work.operation, work.type, work.target, work.a, work.b, work.count);
    case Work::Kind::kReduce: return reduce(work);
    case Work::Kind::kScale: return scale(work.type, work.target, work.count, work.factor);
    case Work::Kind::kCopy:
    case Work::Kind::kMove:
      std::memmove(work.target, work.a,
                   static_cast<std::size_t>(work.count * core::size_of(work.type).count()));
  }
}

/// Keeps freed memory blocks for reuse. The length of a block is stored in front of the block.
class HostDevices::Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  ~Store() {
    for (std::byte* const block : blocks_) std::free(block - kFront);
  }

  std::byte* take(std::size_t bytes) {
    // Start with the block that was freed last, which is still in the cache.
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      const std::size_t room = room_of(blocks_[i]);
      if (room < bytes || room > 2 * bytes + kSmall) continue;
      std::byte* const block = blocks_[i];
      blocks_.erase(blocks_.begin() + i);
      kept_ -= room;
      return block;
    }
    const bool large = bytes >= kHugePage;
    const std::size_t unit = large ? kHugePage : kFront;
    const std::size_t all = (bytes + kFront + unit - 1) / unit * unit;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(unit, all));
    if (!memory) throw std::bad_alloc();
    if (large) ::madvise(memory, all, MADV_HUGEPAGE);
    *reinterpret_cast<std::size_t*>(memory) = all - kFront;
    return memory + kFront;
  }

  void give_back(std::byte* block) {
    if (kept_ + room_of(block) > kMaxKept || blocks_.size() >= kMaxBlocks)
      return std::free(block - kFront);
    kept_ += room_of(block);
    blocks_.push_back(block);
  }

 private:
  static constexpr std::size_t kFront = 64;  // aligns blocks at cache lines
  static constexpr std::size_t kSmall = 4 << 10;
  static constexpr std::size_t kHugePage = 2 << 20;
  static constexpr std::size_t kMaxKept = 256 << 20;
  static constexpr std::size_t kMaxBlocks = 64;

  static std::size_t room_of(const std::byte* block) {
    return *reinterpret_cast<const std::size_t*>(block - kFront);
  }

  std::vector<std::byte*> blocks_;
  std::size_t kept_ = 0;
};

HostDevices::HostDevices() : store_(std::make_unique<Store>()) {}
HostDevices::~HostDevices() = default;

Devices::Memory HostDevices::take(core::Rank, std::int64_t bytes, bool) {
  return {store_->take(static_cast<std::size_t>(bytes)),
          {[](void* store, std::byte* memory) { static_cast<Store*>(store)->give_back(memory); },
           store_.get()}};
}

void HostDevices::copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool HostDevices::perform(const Work& work, Ticket) {
  perform_here(work);
  return true;
}

}  // namespace tutti::real
