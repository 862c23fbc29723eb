/// Where the ranks of a fake communicator meet, and how what they gave becomes what each takes:
/// shared memory, in looks that never wait. tests/real/fake_nccl.cpp has the calls that NCCL has.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "real/cuda/api.h"
#include "real/nccl/api.h"

namespace tutti::test {

constexpr int kSystemError = 2;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kMaxRanks = 16;
constexpr std::size_t kSlotBytes = std::size_t{8} << 20;

/// Bytes of an element.
std::size_t item_of(int type);

/// Where the ranks of a communicator meet. Shared by processes; zeros at first.
struct Meeting {
  struct Rank {
    std::atomic<int> process;  ///< 0: has not come
    std::atomic<int> host;     ///< of NCCL_HOSTID
    std::atomic<int> device;
    std::atomic<int> operation;  ///< what it does next: kind, root, type, count
    std::atomic<long> count;
    std::atomic<long> given;  ///< operations whose input lies in its slot
    std::atomic<long> taken;  ///< … whose result it has
  } ranks[kMaxRanks];
};

constexpr std::size_t kMeetingBytes = 1 << 16;
static_assert(sizeof(Meeting) <= kMeetingBytes);
constexpr std::size_t kMeetingAndSlotsBytes = kMeetingBytes + kMaxRanks * kSlotBytes;

enum class Kind { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kParts };

/// A send or a receive of a group.
struct Part {
  bool out = false;
  std::byte* at = nullptr;
  std::int64_t count = 0;
  int type = 0;
  int peer = 0;
};

struct Operation {
  Kind kind = Kind::kAllReduce;
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;
  int type = 0;
  int operation = 0;
  int root = 0;
  long number = 0;
  bool given = false;
  std::vector<Part> parts;
};

/// One look at an operation. True when this rank has its result; an error is the communicator's.
bool go_on(TuttiNcclCommunicator& c, Operation& op);

}  // namespace tutti::test

struct TuttiNcclCommunicator {
  tutti::test::Meeting* meeting = nullptr;
  std::string file;
  int rank = 0;
  int ranks = 0;
  int device = 0;
  long operations = 0;
  int looks_left = 0;
  int error = 0;
  bool joined = false;
  bool finalizing = false;
  void* profile = nullptr;                                     ///< what the profiler knows it by
  std::shared_ptr<bool> gone = std::make_shared<bool>(false);  ///< its kernels end
  std::vector<std::function<void()>> enqueues;  ///< what goes onto streams when the looks are over
  std::vector<tutti::test::Part> parts;         ///< of the group that is open
  TuttiCudaStream* parts_on = nullptr;
  [[nodiscard]] std::byte* slot(int of) const {
    return reinterpret_cast<std::byte*>(meeting) + tutti::test::kMeetingBytes +
           static_cast<std::size_t>(of) * tutti::test::kSlotBytes;
  }
};
