#include "real/cuda/busy_streams.h"

#include <algorithm>

namespace tutti::real {
namespace {

/// A kernel stops at the latest this long after its planned duration, even if a change of the
/// device's clock has made the planned end wrong.
constexpr std::chrono::microseconds kTolerance{50};

}  // namespace

BusyStreams::~BusyStreams() {
  for (auto& [rank, stream] : streams_) {
    for (const Busy& busy : stream.busy) static_cast<void>(api_.destroy_event(busy.event));
    for (TuttiCudaEvent* const event : stream.events) static_cast<void>(api_.destroy_event(event));
    if (stream.stream) static_cast<void>(api_.destroy_stream(stream.stream));
  }
}

int BusyStreams::make(core::Rank rank, int device, Stream*& stream) {
  stream = &streams_[rank];
  if (stream->stream) return 0;
  stream->device = device;
  return api_.make_stream(device, 0, &stream->stream);
}

/// Returns an event and memory for two time stamps.
int BusyStreams::prepare(Stream& stream, Busy& busy) {
  if (stream.stamps.empty()) {
    int error = 0;
    std::byte* const page = pool_.take(stream.device, true, 4096, error);
    if (!page) return error;
    for (std::size_t i = 0; i < 4096 / (2 * sizeof(std::uint64_t)); ++i)
      stream.stamps.push_back(reinterpret_cast<std::uint64_t*>(page) + 2 * i);
  }
  if (stream.events.empty()) {
    TuttiCudaEvent* event = nullptr;
    if (const int error = api_.make_event(stream.device, &event); error != 0) return error;
    stream.events.push_back(event);
  }
  busy.event = stream.events.back();
  stream.events.pop_back();
  busy.stamps = stream.stamps.back();
  stream.stamps.pop_back();
  return 0;
}

int BusyStreams::ask(core::Rank rank, int device, Clock::time_point end) {
  Stream* stream = nullptr;
  if (const int error = make(rank, device, stream); error != 0) return error;
  Busy busy;
  busy.end = end;
  if (const int error = prepare(*stream, busy); error != 0) return error;
  stream->busy.push_back(busy);  // from here on, the event is freed with the stream
  if (stream->busy.size() == 1 && stream->clock.is_old(Clock::now())) {
    if (const int error = stream->clock.align(api_, stream->stream, busy.stamps); error != 0)
      return error;
  }
  // A kernel may start late because other kernels are running, so the duration is limited
  // separately from the end time.
  const std::chrono::nanoseconds most =
      std::max(end - Clock::now() + kTolerance, Clock::duration::zero());
  const int error = api_.busy(stream->stream, stream->clock.to_device(end),
                              static_cast<std::uint64_t>(most.count()), busy.stamps);
  return error != 0 ? error : api_.record(busy.event, stream->stream);
}

int BusyStreams::poll(std::vector<Span>& ended, int& device) {
  for (auto& [rank, stream] : streams_) {
    device = stream.device;
    while (!stream.busy.empty()) {
      const Busy& busy = stream.busy.front();
      const int answer = api_.query(busy.event);
      if (answer == kTuttiCudaNotReady) break;
      if (answer != 0) return answer;
      ended.push_back(
          {rank, stream.clock.to_host(busy.stamps[0]), stream.clock.to_host(busy.stamps[1])});
      stream.events.push_back(busy.event);
      stream.stamps.push_back(busy.stamps);
      stream.busy.pop_front();
    }
  }
  return 0;
}

BusyStreams::Clock::time_point BusyStreams::next_end() const {
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [rank, stream] : streams_) {
    if (!stream.busy.empty()) next = std::min(next, stream.busy.front().end);
  }
  return next;
}

void BusyStreams::stop() {
  for (auto& [rank, stream] : streams_) {
    if (stream.stream) static_cast<void>(api_.synchronize(stream.stream));
  }
}

}  // namespace tutti::real
