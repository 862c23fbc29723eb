#include "real/devices.h"

#include <algorithm>
#include <cstring>

namespace tutti::real {
namespace {

/// In stretches that stay in the cache while all inputs are added to them.
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
    for (std::int64_t i = first; i < work.inputs; ++i) combine(work.operation, work.type, sum, input(i), count);
  }
}

}  // namespace

void perform_here(const Work& work) {
  switch (work.kind) {
    case Work::Kind::kCombine:
      if (work.target == work.a) return combine(work.operation, work.type, work.target, work.b, work.count);
      return combine_to(work.operation, work.type, work.target, work.a, work.b, work.count);
    case Work::Kind::kReduce: return reduce(work);
    case Work::Kind::kScale: return scale(work.type, work.target, work.count, work.factor);
    case Work::Kind::kCopy:
    case Work::Kind::kMove:
      std::memmove(work.target, work.a, static_cast<std::size_t>(work.count * core::size_of(work.type).count()));
  }
}

Devices::Memory HostDevices::take(core::Rank, std::int64_t bytes, bool) {
  // Not initialised: what is never touched costs nothing.
  return {new std::byte[static_cast<std::size_t>(bytes)], {[](void*, std::byte* memory) { delete[] memory; }, nullptr}};
}

void HostDevices::copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool HostDevices::perform(const Work& work, Ticket) {
  perform_here(work);
  return true;
}

}  // namespace tutti::real
