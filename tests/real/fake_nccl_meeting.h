/// The shared memory of the ranks of a fake communicator, and the execution of operations on it, by
/// polling without blocking. tests/real/fake_nccl.cpp implements NCCL's calls.

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

/// Returns the size of an element in bytes.
std::size_t item_of(int type);

/// The shared state of the ranks of a communicator. Shared by processes; initially zero.
struct Meeting {
  struct Rank {
    std::atomic<int> process;  ///< 0: the rank has not joined
    std::atomic<int> host;     ///< host by NCCL_HOSTID
    std::atomic<int> device;
    std::atomic<int> operation;  ///< its next operation: kind, root, type and operation
    std::atomic<long> count;
    std::atomic<long> given;  ///< number of operations whose input is in the rank's slot
    std::atomic<long> taken;  ///< number of operations whose result the rank has
  } ranks[kMaxRanks];
};

constexpr std::size_t kMeetingBytes = 1 << 16;
static_assert(sizeof(Meeting) <= kMeetingBytes);
constexpr std::size_t kMeetingAndSlotsBytes = kMeetingBytes + kMaxRanks * kSlotBytes;

enum class Kind { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kParts };

/// A send or a receive in a group.
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

/// Polls an operation once. Returns true if this rank has its result. Sets the communicator's error
/// if the operation fails.
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
  /// The profiler's context of the communicator.
  void* profile = nullptr;
  /// Becomes true when the communicator is gone, which ends its kernels.
  std::shared_ptr<bool> gone = std::make_shared<bool>(false);
  /// Work to put on streams when looks_left is 0.
  std::vector<std::function<void()>> enqueues;
  std::vector<tutti::test::Part> parts;  ///< sends and receives of the open group
  TuttiCudaStream* parts_on = nullptr;
  [[nodiscard]] std::byte* slot(int of) const {
    return reinterpret_cast<std::byte*>(meeting) + tutti::test::kMeetingBytes +
           static_cast<std::size_t>(of) * tutti::test::kSlotBytes;
  }
};
