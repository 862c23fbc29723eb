#pragma once

#include <deque>
#include <map>
#include <vector>

#include "core/schedule/step.h"
#include "real/cuda/device_clock.h"
#include "real/cuda/memory_pool.h"

namespace tutti::real {

/// Replays computation on devices. Gives each rank a stream whose kernels keep a multiprocessor
/// busy. A kernel ends at a given time, not after a given duration, so that launch overheads do not
/// add up over hundreds of layers.
class BusyStreams {
 public:
  using Clock = DeviceClock::Clock;
  struct Span {
    core::Rank rank = 0;
    Clock::time_point start,
        end;  ///< measured by the device, and converted to this process's clock
  };

  BusyStreams(const TuttiCudaApi& api, MemoryPool& pool) : api_(api), pool_(pool) {}
  /// REQUIRES: the streams are idle (stop()).
  ~BusyStreams();
  BusyStreams(const BusyStreams&) = delete;
  BusyStreams& operator=(const BusyStreams&) = delete;

  /// Enqueues a kernel on the rank's stream on `device`. The kernel runs after the stream's earlier
  /// work and keeps the stream busy until `end`. Returns 0 or a CUDA error number.
  [[nodiscard]] int ask(core::Rank rank, int device, Clock::time_point end);
  /// Appends to `ended` the kernels that have ended since the last call. The kernels of one rank
  /// are in order. Returns 0 or a CUDA error number. On an error, sets `device` to the device that
  /// failed; `ended` then has the kernels that ended before the error.
  [[nodiscard]] int poll(std::vector<Span>& ended, int& device);
  /// Returns the earliest `end` of a kernel that poll() has not reported yet; max() if there is
  /// none.
  [[nodiscard]] Clock::time_point next_end() const;
  /// Waits for all streams.
  void stop();

 private:
  struct Busy {
    TuttiCudaEvent* event = nullptr;
    std::uint64_t* stamps = nullptr;
    Clock::time_point end;
  };
  struct Stream {
    int device = 0;
    TuttiCudaStream* stream = nullptr;
    std::deque<Busy> busy;
    std::vector<TuttiCudaEvent*> events;  ///< unused events, for reuse
    std::vector<std::uint64_t*> stamps;   ///< unused memory blocks for two time stamps, for reuse
    DeviceClock clock;
  };

  int make(core::Rank rank, int device, Stream*& stream);
  int prepare(Stream& stream, Busy& busy);

  const TuttiCudaApi& api_;
  MemoryPool& pool_;
  std::map<core::Rank, Stream> streams_;
};

}  // namespace tutti::real
