#include "real/nccl/module/profiler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

// NCCL calls the profiler from its own threads. The thread that enqueues kernels on streams reports
// the begin and the end of collectives. Another thread reports the channels, whose times the
// kernels have recorded. Most channels are reported after the end of their collective. The event of
// a collective, of about 32 bytes, is therefore kept until the collective's communicator is
// destroyed.

namespace tutti::real {
namespace {

constexpr char kPrefix[] = "tutti ";
/// Maximum number of stored reports. If the program does not fetch the reports, the oldest reports
/// are dropped.
constexpr std::size_t kMaxWaiting = 1 << 20;

struct Event {
  bool is_channel = false;
};

struct Collective : Event {
  int communicator = 0;
  std::int64_t number = 0;
  int channels = 0;
  TuttiNcclFunction function = kTuttiNcclOther;
  std::int64_t bytes = -1;
};

struct Channel : Event {
  TuttiNcclChannel channel{};
};

struct Communicator {
  int number = -1;  ///< -1: not a communicator of Tutti
  std::int64_t begun = 0;
  std::deque<Collective> collectives;
};

struct Log {
  std::mutex mutex;
  std::deque<TuttiNcclChannel> over;
  std::set<std::string> names;
};

/// The log is global, since NCCL offers its plugins no other way to share data with the program.
Log& the_log() {
  static Log log;
  return log;
}

TuttiNcclFunction function_of(const char* name) {
  constexpr std::pair<const char*, TuttiNcclFunction> functions[] = {
      {"AllReduce", kTuttiNcclAllReduce},
      {"ReduceScatter", kTuttiNcclReduceScatter},
      {"AllGather", kTuttiNcclAllGather},
      {"Broadcast", kTuttiNcclBroadcast},
      {"Reduce", kTuttiNcclReduce}};
  for (const auto& [known, function] : functions) {
    if (name && std::strcmp(name, known) == 0) return function;
  }
  return kTuttiNcclOther;
}

/// Returns the size of `count` elements in bytes. For collectives without a reduction, NCCL reports
/// bytes (ncclInt8) instead of the elements' type.
std::int64_t bytes_of(std::size_t count, const char* type) {
  constexpr std::pair<const char*, std::int64_t> types[] = {
      {"ncclInt8", 1},     {"ncclInt32", 4},   {"ncclInt64", 8},  {"ncclFloat16", 2},
      {"ncclBfloat16", 2}, {"ncclFloat32", 4}, {"ncclFloat64", 8}};
  for (const auto& [known, size] : types) {
    if (type && std::strcmp(type, known) == 0) return static_cast<std::int64_t>(count) * size;
  }
  return -1;
}

int open(void** context, int* mask, const char* communicator, std::uint64_t, int, int, int,
         void (*)(int, unsigned long, const char*, int, const char*, ...)) {
  auto made = std::make_unique<Communicator>();
  if (communicator && std::strncmp(communicator, kPrefix, sizeof kPrefix - 1) == 0)
    made->number = std::atoi(communicator + sizeof kPrefix - 1);
  *context = made.release();
  *mask = kNcclEventCollective | kNcclEventChannel;
  return 0;
}

int begin(void* context, void** event, TuttiNcclEvent* description) {
  *event = nullptr;  // null: NCCL is silent about events that are not followed
  auto* const communicator = static_cast<Communicator*>(context);
  if (!communicator || communicator->number < 0) return 0;
  if (description->type == kNcclEventCollective) {
    const std::lock_guard lock(the_log().mutex);
    Collective& collective = communicator->collectives.emplace_back();
    collective.communicator = communicator->number;
    collective.number = communicator->begun++;
    collective.channels = description->collective.channels;
    collective.function = function_of(description->collective.function);
    collective.bytes = bytes_of(description->collective.count, description->collective.type);
    *event = static_cast<Event*>(&collective);
  } else if (description->type == kNcclEventChannel && description->parent) {
    const auto& of =
        static_cast<const Collective&>(*static_cast<const Event*>(description->parent));
    auto channel = std::make_unique<Channel>();
    channel->is_channel = true;
    channel->channel = {of.communicator,
                        of.channels,
                        of.number,
                        description->channel.channel,
                        of.function,
                        of.bytes,
                        description->channel.device_ns,
                        0};
    *event = static_cast<Event*>(channel.release());
  }
  return 0;
}

int state(void* event, int what, TuttiNcclStateArguments* arguments) {
  auto* const of = static_cast<Event*>(event);
  if (of && of->is_channel && what == kNcclStateChannelStop && arguments)
    static_cast<Channel&>(*of).channel.end_ns = arguments->channel.device_ns;
  return 0;
}

int end(void* event) {
  auto* const of = static_cast<Event*>(event);
  if (!of || !of->is_channel) return 0;
  const std::unique_ptr<Channel> channel(static_cast<Channel*>(of));
  const std::lock_guard lock(the_log().mutex);
  the_log().over.push_back(channel->channel);
  if (the_log().over.size() > kMaxWaiting) the_log().over.pop_front();
  return 0;
}

int close(void* context) {
  delete static_cast<Communicator*>(context);
  return 0;
}

}  // namespace

int take_channels(TuttiNcclChannel* to, int most) {
  const std::lock_guard lock(the_log().mutex);
  auto& over = the_log().over;
  const auto count = std::min(over.size(), static_cast<std::size_t>(std::max(0, most)));
  std::copy_n(over.begin(), count, to);
  over.erase(over.begin(), over.begin() + count);
  return static_cast<int>(count);
}

const char* profiled_name(int communicator) {
  const std::lock_guard lock(the_log().mutex);
  return the_log().names.insert(kPrefix + std::to_string(communicator)).first->c_str();
}

}  // namespace tutti::real

const TuttiNcclProfiler ncclProfiler_v4{"tutti",          tutti::real::open,  tutti::real::begin,
                                        tutti::real::end, tutti::real::state, tutti::real::close};
