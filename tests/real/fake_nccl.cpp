// A fake NCCL on fake GPUs (fake_nccl.h): the calls of NCCL's interface, which put operations on
// streams. fake_nccl_meeting.cpp executes them in shared memory, and fake_nccl_profile.cpp reports
// their channels to the profiler plugin.

#include "tests/real/fake_nccl.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real/nccl/module/profiler.h"
#include "tests/real/fake_cuda.h"
#include "tests/real/fake_nccl_meeting.h"
#include "tests/real/fake_nccl_profile.h"

namespace tutti::test {
namespace {

/// The number of state() calls after which a communicator puts its operations on the streams.
constexpr int kLooks = 2;

int in_group = 0;
std::vector<TuttiNcclCommunicator*> of_group;

int fails_at() {
  const char* const text = std::getenv("TUTTI_FAKE_NCCL_FAILS_AT");
  return text ? std::atoi(text) : -1;
}

int may_ask(const TuttiNcclCommunicator* c, void* stream) {
  if (c->error != 0) return c->error;
  // A communicator that has not completed the previous request accepts no other. The ranks of a
  // process must call in groups.
  if (!c->joined || c->looks_left > 0 || c->finalizing) return kInvalidUsage;
  return static_cast<TuttiCudaStream*>(stream)->device == c->device ? 0 : kInvalidUsage;
}

/// Adds the group's sends and receives to the communicator as one operation.
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
    FakeCuda::the().launch(on, uses,
                           [c, state, gone = c->gone] { return *gone || go_on(*c, *state); });
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
  if (part.peer < 0 || part.peer >= c->ranks || (!c->parts.empty() && c->parts_on != on))
    return kInvalidUsage;
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
      FakeCuda::the().launch(on, {{op.to, bytes}},
                             [c, state, gone = c->gone] { return *gone || go_on(*c, *state); });
      return;
    }
    void* const collective = report_collective(c->profile, op);
    FakeCuda::the().launch(
        on, {{op.to, bytes}},
        [c, state, collective, gone = c->gone, begin = std::uint64_t{0}]() mutable {
          if (begin == 0) begin = FakeCuda::the().clock();
          if (*gone) return true;
          if (!go_on(*c, *state)) return false;
          channels_ended(c->profile, collective, gone, begin, FakeCuda::the().clock());
          return true;
        });
  });
  of_group.push_back(c);
  if (in_group > 0) return 0;
  c->looks_left = kLooks;
  of_group.clear();
  return kTuttiNcclInProgress;
}

int make_communicator(int device, const char* id, int ranks, int rank, int number,
                      TuttiNcclCommunicator** made) {
  if (ranks > kMaxRanks || rank >= ranks || !std::memchr(id, 0, kTuttiNcclIdBytes))
    return kInvalidUsage;
  const int file = ::open(id, O_RDWR);
  if (file < 0) return kSystemError;
  void* const memory =
      ::mmap(nullptr, kMeetingAndSlotsBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return kSystemError;
  auto* const c = new TuttiNcclCommunicator;
  c->meeting = static_cast<Meeting*>(memory);
  c->file = id;
  c->rank = rank;
  c->ranks = ranks;
  c->device = device;
  const char* const host = std::getenv("NCCL_HOSTID");
  c->meeting->ranks[rank].host =
      host ? static_cast<int>(std::hash<std::string>()(host) & 0xffffff) : 0;
  c->meeting->ranks[rank].device = device + 1;
  c->meeting->ranks[rank].process = ::getpid();
  ++fake_nccl_counts().communicators;
  int mask = 0;
  if (follows_channels())
    ncclProfiler_v4.open(&c->profile, &mask, real::profiled_name(number), 0, 1, ranks, rank,
                         nullptr);
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
      if (r != c->rank && own.host == other.host && own.device == other.device)
        return c->error = kInvalidUsage;
    }
    c->joined = true;
    ::unlink(c->file.c_str());
    return 0;
  }
  for (int r = 0; r < c->ranks; ++r) {
    if (::kill(c->meeting->ranks[r].process, 0) != 0 && !c->finalizing)
      return c->error = kRemoteError;
  }
  if (c->looks_left > 0 && --c->looks_left > 0) return kTuttiNcclInProgress;
  for (const auto& enqueue : std::exchange(c->enqueues, {})) enqueue();
  return 0;
}

int forget(TuttiNcclCommunicator* c) {
  *c->gone = true;
  if (c->profile) ncclProfiler_v4.close(c->profile);
  ::munmap(c->meeting, kMeetingAndSlotsBytes);
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
      return error == kRemoteError ? "remote process exited or there was a network error"
                                   : "an error of the tests";
    },
    [](TuttiNcclCommunicator*) { return "last words of the tests"; },
    // make_id
    [](char* id) {
      std::memset(id, 0, kTuttiNcclIdBytes);
      std::snprintf(id, kTuttiNcclIdBytes, "/dev/shm/tutti-fake-nccl-XXXXXX");
      const int file = ::mkstemp(id);
      if (file < 0) return kSystemError;
      const int sized = ::ftruncate(file, static_cast<off_t>(kMeetingAndSlotsBytes));
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
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type,
       int operation, void* stream) {
      return ask(c, {Kind::kAllReduce, from, to, count, type, operation, 0, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type,
       int operation, void* stream) {
      return ask(c, {Kind::kReduceScatter, from, to, count, type, operation, 0, 0, false, {}},
                 stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type,
       void* stream) {
      return ask(c, {Kind::kAllGather, from, to, count, type, 0, 0, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type, int root,
       void* stream) {
      return ask(c, {Kind::kBroadcast, from, to, count, type, 0, root, 0, false, {}}, stream);
    },
    [](TuttiNcclCommunicator* c, const void* from, void* to, std::int64_t count, int type,
       int operation, int root, void* stream) {
      return ask(c, {Kind::kReduce, from, to, count, type, operation, root, 0, false, {}}, stream);
    },
    // send, receive
    [](TuttiNcclCommunicator* c, const void* from, std::int64_t count, int type, int peer,
       void* stream) {
      auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(from));
      return ask_part(c, {true, at, count, type, peer}, stream);
    },
    [](TuttiNcclCommunicator* c, void* to, std::int64_t count, int type, int peer, void* stream) {
      return ask_part(c, {false, static_cast<std::byte*>(to), count, type, peer}, stream);
    },
    follow_channels, take_reported_channels};

}  // namespace

FakeNcclCounts& fake_nccl_counts() {
  static FakeNcclCounts counts;
  return counts;
}

const TuttiNcclApi& fake_nccl_api() { return kApi; }

}  // namespace tutti::test
