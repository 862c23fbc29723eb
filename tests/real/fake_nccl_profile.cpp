#include "tests/real/fake_nccl_profile.h"

#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "real/nccl/module/profiler.h"

namespace tutti::test {
namespace {

constexpr int kChannels = 2;

bool following = false;
std::mutex untold_mutex;
/// Reports that have not yet been sent to the plugin.
std::deque<std::function<void()>> untold;
std::vector<std::function<void()>> held;  ///< withheld until the next operation

bool is_requested_to_report(std::string_view what) {
  const char* const text = std::getenv("TUTTI_FAKE_NCCL_TELLS");
  return text && text == what;
}

void report_channel(void* profile, void* collective, int channel, std::uint64_t begin,
                    std::uint64_t end) {
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

}  // namespace

bool follow_channels() { return following = std::getenv("NCCL_PROFILER_PLUGIN") == nullptr; }
bool follows_channels() { return following; }

void* report_collective(void* profile, const Operation& op) {
  // Uses NCCL's names. NCCL counts operations that only move data in bytes.
  constexpr const char* kFunctions[] = {"AllReduce", "ReduceScatter", "AllGather", "Broadcast",
                                        "Reduce"};
  constexpr const char* kTypes[] = {
      "", "ncclFloat32", "ncclFloat64", "ncclFloat16", "ncclBfloat16", "ncclInt32", "ncclInt64"};
  const bool moved = op.kind == Kind::kAllGather || op.kind == Kind::kBroadcast;
  TuttiNcclEvent description{};
  description.type = kNcclEventCollective;
  description.collective.function = kFunctions[static_cast<int>(op.kind)];
  description.collective.count =
      static_cast<std::size_t>(op.count) * (moved ? item_of(op.type) : 1);
  description.collective.type = moved ? "ncclInt8" : kTypes[op.type];
  description.collective.channels = kChannels;
  if (is_requested_to_report("others")) ++description.collective.count;
  {
    const std::lock_guard lock(untold_mutex);
    for (auto& tell : std::exchange(held, {})) untold.push_back(std::move(tell));
  }
  void* event = nullptr;
  ncclProfiler_v4.begin(profile, &event, &description);
  ncclProfiler_v4.end(event);  // ended as soon as it is on the stream
  return event;
}

void channels_ended(void* profile, void* collective, const std::shared_ptr<bool>& gone,
                    std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(untold_mutex);
  for (int channel = 0; channel < kChannels; ++channel) {
    const auto tell = [=] {
      if (!*gone) report_channel(profile, collective, channel, begin, end);
    };
    const bool late = channel > 0 && is_requested_to_report("late");
    late ? held.emplace_back(tell) : untold.emplace_back(tell);
  }
}

int take_reported_channels(TuttiNcclChannel* to, int most) {
  if (is_requested_to_report("nothing")) return 0;
  std::function<void()> tell;
  {
    const std::lock_guard lock(untold_mutex);
    if (!untold.empty()) tell = std::move(untold.front()), untold.pop_front();
  }
  const int told = real::take_channels(to, most);
  if (tell) tell();  // reports arrive late
  return told;
}

}  // namespace tutti::test
