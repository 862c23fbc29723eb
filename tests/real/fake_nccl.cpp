#include "tests/real/fake_nccl.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "real/nccl/module/profiler.h"
#include "tests/real/fake_cuda.h"

namespace tutti::test {
namespace {

constexpr int kSystemError = 2;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kMostRanks = 16;
constexpr std::size_t kSlotBytes = std::size_t{8} << 20;
/// Looks at a communicator before it has put on the streams what it was asked for.
constexpr int kLooks = 2;

std::size_t item_of(int type) { return type == 2 || type == 6 ? 8 : type == 3 || type == 4 ? 2 : 4; }

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
  } ranks[kMostRanks];
};

constexpr std::size_t kMeetingBytes = 1 << 16;
static_assert(sizeof(Meeting) <= kMeetingBytes);

enum class Kind { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kParts };

/// A send or a receive of a group.
struct Part {
  bool out = false;
  std::byte* at = nullptr;
  std::int64_t count = 0;
  int type = 0;
  int peer = 0;
};

/// What stands before each part in the slot of its sender.
struct PartHeader {
  int to = 0;
  int type = 0;
  std::int64_t count = 0;
};

}  // namespace
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
  std::vector<std::function<void()>> enqueues;                 ///< what goes onto streams when the looks are over
  std::vector<tutti::test::Part> parts;                        ///< of the group that is open
  TuttiCudaStream* parts_on = nullptr;
  [[nodiscard]] std::byte* slot(int of) const {
    return reinterpret_cast<std::byte*>(meeting) + tutti::test::kMeetingBytes +
           static_cast<std::size_t>(of) * tutti::test::kSlotBytes;
  }
};

namespace tutti::test {
namespace {

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

bool follows_channels = false;
/// What the profiler is still to be told.
std::deque<std::function<void()>> untold;
std::vector<std::function<void()>> held;  ///< back until the next operation
std::mutex untold_mutex;
constexpr int kChannels = 2;

bool is_set(const char* variable, const std::string& value) {
  const char* const text = std::getenv(variable);
  return text && text == value;
}

void* begin_collective(void* profile, const Operation& op) {
  // As NCCL has them; what is only moved it counts in bytes.
  constexpr const char* kFunctions[] = {"AllReduce", "ReduceScatter", "AllGather", "Broadcast", "Reduce"};
  constexpr const char* kTypes[] = {"",          "ncclFloat32", "ncclFloat64", "ncclFloat16", "ncclBfloat16",
                                    "ncclInt32", "ncclInt64"};
  const bool moved = op.kind == Kind::kAllGather || op.kind == Kind::kBroadcast;
  TuttiNcclEvent description{};
  description.type = kNcclEventCollective;
  description.collective.function = kFunctions[static_cast<int>(op.kind)];
  description.collective.count = static_cast<std::size_t>(op.count) * (moved ? item_of(op.type) : 1);
  description.collective.type = moved ? "ncclInt8" : kTypes[op.type];
  description.collective.channels = kChannels;
  if (is_set("TUTTI_FAKE_NCCL_TELLS", "others")) ++description.collective.count;
  {
    const std::lock_guard lock(untold_mutex);
    for (auto& tell : std::exchange(held, {})) untold.push_back(std::move(tell));
  }
  void* event = nullptr;
  ncclProfiler_v4.begin(profile, &event, &description);
  ncclProfiler_v4.end(event);  // as soon as it is on the stream
  return event;
}

void tell_of_channel(void* profile, void* collective, int channel, std::uint64_t begin, std::uint64_t end) {
  TuttiNcclEvent description{};
  description.type = kNcclEventChannel;
  description.parent = collective;
  description.channel = {static_cast<std::uint8_t>(channel), begin};
  void* event = nullptr;
  ncclProfiler_v4.begin(profile, &event, &description);
  TuttiNcclStateArguments arguments{};
  arguments.channel.device_ns = end;
  ncclProfiler_v4.state(event, kNcclStateChannelStop, &arguments);
  ncclProfiler_v4.end(event);
}

int in_group = 0;
std::vector<TuttiNcclCommunicator*> of_group;

int fails_at() {
  const char* const text = std::getenv("TUTTI_FAKE_NCCL_FAILS_AT");
  return text ? std::atoi(text) : -1;
}

/// Nobody's last operation is still to be read where the next one's input goes.
bool may_give(const TuttiNcclCommunicator& c, const Operation& op) {
  for (int r = 0; r < c.ranks; ++r) {
    if (c.meeting->ranks[r].taken < op.number) return false;
  }
  return true;
}

/// What is sent, one part behind the other, and a header for nobody.
void give_parts(const TuttiNcclCommunicator& c, const Operation& op) {
  std::byte* at = c.slot(c.rank);
  const std::byte* const end = at + kSlotBytes;
  const auto put = [&at, end](const void* from, std::size_t bytes) {
    if (at + bytes > end) std::abort();
    std::memcpy(at, from, bytes);
    at += bytes;
  };
  for (const Part& part : op.parts) {
    if (!part.out) continue;
    const PartHeader header{part.peer, part.type, part.count};
    put(&header, sizeof header);
    put(part.at, static_cast<std::size_t>(part.count) * item_of(part.type));
  }
  const PartHeader last{-1, 0, 0};
  put(&last, sizeof last);
}

/// What `from` has sent to this rank, in order, has to be what this rank takes from it, in order.
bool take_parts(const TuttiNcclCommunicator& c, const Operation& op, int from) {
  std::vector<std::pair<PartHeader, const std::byte*>> sent;
  PartHeader header;
  for (const std::byte* at = c.slot(from);; at += static_cast<std::size_t>(header.count) * item_of(header.type)) {
    std::memcpy(&header, at, sizeof header);
    at += sizeof header;
    if (header.to < 0) break;
    if (header.to == c.rank) sent.emplace_back(header, at);
  }
  auto next = sent.begin();
  for (const Part& part : op.parts) {
    if (part.out || part.peer != from) continue;
    if (next == sent.end() || next->first.type != part.type || next->first.count != part.count) return false;
    std::memcpy(part.at, next->second, static_cast<std::size_t>(part.count) * item_of(part.type));
    ++next;
  }
  return next == sent.end();
}

/// As go_on().
bool go_on_with_parts(TuttiNcclCommunicator& c, Operation& op) {
  Meeting::Rank& own = c.meeting->ranks[c.rank];
  const int what = static_cast<int>(Kind::kParts) * 1'000'000;
  if (!op.given) {
    if (!may_give(c, op)) return false;
    give_parts(c, op);
    own.operation = what;
    own.given = op.number + 1;
    op.given = true;
  }
  for (int r = 0; r < c.ranks; ++r) {
    if (c.meeting->ranks[r].given < op.number + 1) return false;
    if (c.meeting->ranks[r].operation != what) c.error = kInvalidUsage;
  }
  for (int r = 0; r < c.ranks && c.error == 0; ++r) {
    if (!take_parts(c, op, r)) c.error = kInvalidUsage;
  }
  if (c.error != 0) return false;
  own.taken = op.number + 1;
  return true;
}

/// One look at an operation. True when this rank has its result.
bool go_on(TuttiNcclCommunicator& c, Operation& op) {
  Meeting& meeting = *c.meeting;
  Meeting::Rank& own = meeting.ranks[c.rank];
  const std::size_t bytes = static_cast<std::size_t>(op.count) * item_of(op.type);
  const bool scatters = op.kind == Kind::kReduceScatter;
  const std::size_t input = scatters ? bytes * static_cast<std::size_t>(c.ranks) : bytes;
  const int what = static_cast<int>(op.kind) * 1'000'000 + op.root * 1000 + op.type * 10 + op.operation;
  if (!op.given) {
    if (!may_give(c, op)) return false;
    if (input > kSlotBytes) std::abort();
    std::memcpy(c.slot(c.rank), op.from, input);
    own.operation = what;
    own.count = op.count;
    own.given = op.number + 1;
    op.given = true;
  }
  for (int r = 0; r < c.ranks; ++r) {
    if (meeting.ranks[r].given < op.number + 1) return false;
    // Real ranks would wait for ever, or worse.
    if (meeting.ranks[r].operation != what || meeting.ranks[r].count != op.count) c.error = kInvalidUsage;
  }
  if (c.error != 0) return false;
  auto* const to = static_cast<std::byte*>(op.to);
  switch (op.kind) {
    case Kind::kBroadcast: std::memcpy(to, c.slot(op.root), bytes); break;
    case Kind::kAllGather:
      for (int r = 0; r < c.ranks; ++r) std::memcpy(to + static_cast<std::size_t>(r) * bytes, c.slot(r), bytes);
      break;
    default: {
      if (op.kind == Kind::kReduce && c.rank != op.root) break;
      const std::size_t part = scatters ? static_cast<std::size_t>(c.rank) * bytes : 0;
      std::memcpy(to, c.slot(0) + part, bytes);
      for (int r = 1; r < c.ranks; ++r) fake_combine(op.operation, op.type, to, to, c.slot(r) + part, op.count);
    }
  }
  own.taken = op.number + 1;
  return true;
}

int may_ask(const TuttiNcclCommunicator* c, void* stream) {
  if (c->error != 0) return c->error;
  // A communicator that is not through with what it was asked takes nothing else; ranks of a process go in groups.
  if (!c->joined || c->looks_left > 0 || c->finalizing) return kInvalidUsage;
  return static_cast<TuttiCudaStream*>(stream)->device == c->device ? 0 : kInvalidUsage;
}

/// What the group's sends and receives are to a communicator: one operation.
void enqueue_parts(TuttiNcclCommunicator* c) {
  Operation op;
  op.kind = Kind::kParts;
  op.parts = std::exchange(c->parts, {});
  if (op.parts.empty()) return;
  op.number = c->operations++;
  if (op.number == fails_at()) c->error = kRemoteError;
  std::vector<FakeCuda::Use> uses;
  for (const Part& part : op.parts)
    uses.push_back({part.at, static_cast<std::uint64_t>(part.count) * item_of(part.type)});
  c->enqueues.emplace_back([c, op, uses, on = c->parts_on] {
    auto state = std::make_shared<Operation>(op);
    FakeCuda::the().launch(on, uses, [c, state, gone = c->gone] { return *gone || go_on_with_parts(*c, *state); });
  });
}

int end_group() {
  if (--in_group > 0) return 0;
  for (TuttiNcclCommunicator* const c : of_group) {
    enqueue_parts(c);
    c->looks_left = kLooks;
  }
  of_group.clear();
  return kTuttiNcclInProgress;
}

int ask_part(TuttiNcclCommunicator* c, const Part& part, void* stream) {
  if (const int no = may_ask(c, stream); no != 0) return no;
  auto* const on = static_cast<TuttiCudaStream*>(stream);
  if (part.peer < 0 || part.peer >= c->ranks || (!c->parts.empty() && c->parts_on != on)) return kInvalidUsage;
  ++(part.out ? fake_nccl_counts().sends : fake_nccl_counts().receives);
  c->parts.push_back(part);
  c->parts_on = on;
  of_group.push_back(c);
  if (in_group > 0) return 0;
  ++in_group;
  return end_group();
}

int ask(TuttiNcclCommunicator* c, Operation op, void* stream) {
  if (const int no = may_ask(c, stream); no != 0) return no;
  auto* const on = static_cast<TuttiCudaStream*>(stream);
  op.number = c->operations++;
  if (op.number == fails_at()) c->error = kRemoteError;
  (op.kind == Kind::kBroadcast ? fake_nccl_counts().broadcasts : fake_nccl_counts().all_reduces)++;
  c->enqueues.emplace_back([c, op, on] {
    auto state = std::make_shared<Operation>(op);
    const std::uint64_t bytes = static_cast<std::uint64_t>(op.count) * item_of(op.type);
    if (!c->profile || op.count == 0) {
      FakeCuda::the().launch(on, {{op.to, bytes}}, [c, state, gone = c->gone] { return *gone || go_on(*c, *state); });
      return;
    }
    void* const collective = begin_collective(c->profile, op);
    FakeCuda::the().launch(on, {{op.to, bytes}},
                           [c, state, collective, gone = c->gone, begin = std::uint64_t{0}]() mutable {
                             if (begin == 0) begin = FakeCuda::the().clock();
                             if (*gone) return true;
                             if (!go_on(*c, *state)) return false;
                             const std::lock_guard lock(untold_mutex);
                             for (int channel = 0; channel < kChannels; ++channel) {
                               const auto tell = [=, profile = c->profile, end = FakeCuda::the().clock()] {
                                 if (!*gone) tell_of_channel(profile, collective, channel, begin, end);
                               };
                               const bool late = channel > 0 && is_set("TUTTI_FAKE_NCCL_TELLS", "late");
                               late ? held.emplace_back(tell) : untold.emplace_back(tell);
                             }
                             return true;
                           });
  });
  of_group.push_back(c);
  if (in_group > 0) return 0;
  c->looks_left = kLooks;
  of_group.clear();
  return kTuttiNcclInProgress;
}

int make_communicator(int device, const char* id, int ranks, int rank, int number, TuttiNcclCommunicator** made) {
  if (ranks > kMostRanks || rank >= ranks || !std::memchr(id, 0, kTuttiNcclIdBytes)) return kInvalidUsage;
  const int file = ::open(id, O_RDWR);
  if (file < 0) return kSystemError;
  void* const memory =
      ::mmap(nullptr, kMeetingBytes + kMostRanks * kSlotBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return kSystemError;
  auto* const c = new TuttiNcclCommunicator;
  c->meeting = static_cast<Meeting*>(memory);
  c->file = id;
  c->rank = rank;
  c->ranks = ranks;
  c->device = device;
  const char* const host = std::getenv("NCCL_HOSTID");
  c->meeting->ranks[rank].host = host ? static_cast<int>(std::hash<std::string>()(host) & 0xffffff) : 0;
  c->meeting->ranks[rank].device = device + 1;
  c->meeting->ranks[rank].process = ::getpid();
  ++fake_nccl_counts().communicators;
  int mask = 0;
  if (follows_channels)
    ncclProfiler_v4.open(&c->profile, &mask, real::profiled_name(number), 0, 1, ranks, rank, nullptr);
  *made = c;
  return in_group > 0 ? 0 : kTuttiNcclInProgress;
}

int state(TuttiNcclCommunicator* c) {
  if (c->error != 0) return c->error;
  if (!c->joined) {
    for (int r = 0; r < c->ranks; ++r) {
      if (c->meeting->ranks[r].process == 0) return kTuttiNcclInProgress;
    }
    for (int r = 0; r < c->ranks; ++r) {
      const Meeting::Rank &own = c->meeting->ranks[c->rank], &other = c->meeting->ranks[r];
      if (r != c->rank && own.host == other.host && own.device == other.device) return c->error = kInvalidUsage;
    }
    c->joined = true;
    ::unlink(c->file.c_str());
    return 0;
  }
  for (int r = 0; r < c->ranks; ++r) {
    if (::kill(c->meeting->ranks[r].process, 0) != 0 && !c->finalizing) return c->error = kRemoteError;
  }
  if (c->looks_left > 0 && --c->looks_left > 0) return kTuttiNcclInProgress;
  for (const auto& enqueue : std::exchange(c->enqueues, {})) enqueue();
  return 0;
}

int forget(TuttiNcclCommunicator* c) {
  *c->gone = true;
  if (c->profile) ncclProfiler_v4.close(c->profile);
  ::munmap(c->meeting, kMeetingBytes + kMostRanks * kSlotBytes);
  ::unlink(c->file.c_str());
  delete c;
  --fake_nccl_counts().communicators;
  return 0;
}

const TuttiNcclApi kApi{
    kTuttiNcclInterface, sizeof(TuttiNcclApi),
    // version, error_text, last_error
    [](int* version) {
      *version = 22809;
      return 0;
    },
    [](int error) {
      return error == kRemoteError ? "remote process exited or there was a network error" : "an error of the tests";
    },
    [](TuttiNcclCommunicator*) { return "last words of the tests"; },
    // make_id
    [](char* id) {
      std::memset(id, 0, kTuttiNcclIdBytes);
      std::snprintf(id, kTuttiNcclIdBytes, "/dev/shm/tutti-fake-nccl-XXXXXX");
      const int file = ::mkstemp(id);
      if (file < 0) return kSystemError;
      const int sized = ::ftruncate(file, static_cast<off_t>(kMeetingBytes + kMostRanks * kSlotBytes));
      ::close(file);
      return sized == 0 ? 0 : kSystemError;
    },
    // groups
    [] {
      ++in_group;
      return 0;
    },
    end_group, make_communicator, state,
    // finalize, discard, abort
    [](TuttiNcclCommunicator* c) {
      c->finalizing = true;
      return kTuttiNcclInProgress;
    },
    [](TuttiNcclCommunicator* c) { return c->finalizing ? forget(c) : kInvalidUsage; },
    [](TuttiNcclCommunicator* c) {
      ++fake_nccl_counts().aborted;
      return forget(c);
    },
    // collectives
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type, int operation,
       void* stream) {
      return ask(c, {Kind::kAllReduce, from, to, count, type, operation, 0, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type, int operation,
       void* stream) {
      return ask(c, {Kind::kReduceScatter, from, to, count, type, operation, 0, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type, void* stream) {
      return ask(c, {Kind::kAllGather, from, to, count, type, 0, 0, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type, int root, void* stream) {
      return ask(c, {Kind::kBroadcast, from, to, count, type, 0, root, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type, int operation, int root,
       void* stream) {
      return ask(c, {Kind::kReduce, from, to, count, type, operation, root, 0, false, {}}, stream);
    },
    // send, receive
    [](TuttiNcclCommunicator* c, const void* from, std::int64_t count, int type, int peer, void* stream) {
      auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(from));
      return ask_part(c, {true, at, count, type, peer}, stream);
    },
    [](TuttiNcclCommunicator* c, void* to, std::int64_t count, int type, int peer, void* stream) {
      return ask_part(c, {false, static_cast<std::byte*>(to), count, type, peer}, stream);
    },
    // follow_channels, take_channels
    [] { return follows_channels = std::getenv("NCCL_PROFILER_PLUGIN") == nullptr; },
    [](TuttiNcclChannel* to, int most) {
      std::function<void()> tell;
      if (is_set("TUTTI_FAKE_NCCL_TELLS", "nothing")) return 0;
      {
        const std::lock_guard lock(untold_mutex);
        if (!untold.empty()) tell = std::move(untold.front()), untold.pop_front();
      }
      const int told = real::take_channels(to, most);
      if (tell) tell();  // late, as they come
      return told;
    }};

}  // namespace

FakeNcclCounts& fake_nccl_counts() {
  static FakeNcclCounts counts;
  return counts;
}

const TuttiNcclApi& fake_nccl_api() { return kApi; }

}  // namespace tutti::test
