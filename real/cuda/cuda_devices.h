#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "real/cuda/api.h"
#include "real/cuda/busy_streams.h"
#include "real/cuda/device_clock.h"
#include "real/cuda/memory_pool.h"
#include "real/transport/devices.h"

namespace tutti::real {

struct CudaRank {
  core::Rank rank = 0;
  std::string name;  ///< device name in messages, such as "w0/gpu1"
  int device = 0;    ///< CUDA's number of the device; several ranks may share a device
};

struct CudaOptions {
  /// The ranks whose device is a GPU; the device of any other rank is the host.
  std::vector<CudaRank> gpus;
  /// The time for which a waiting thread polls a device without pauses; after this time, it polls
  /// with pauses. Set this to 0 if there are fewer cores than ranks.
  std::chrono::nanoseconds spin{50'000};
  bool shared = false;  ///< true: ranks of other processes also use these GPUs
};

/// Devices for ranks on GPUs. Buffers are in the GPU's memory, Tutti's own kernels process the
/// buffers, and each lane has a stream. Ranks on the host (the parameter servers of pscpu) work in
/// pinned host memory; GPUs copy to and from this memory at full speed. The data that host ranks
/// sum has therefore actually been copied to the host.
///
/// CUDA errors are sticky: after the first error, no device is used any more, and poll() reports
/// that error. After an error, take() returns host memory, so that callers need not check for an
/// error before each use.
class CudaDevices : public Devices {
 public:
  /// Returns the function table of the CUDA module. ERRORS (kRequest): those of load_api().
  static core::Expected<const TuttiCudaApi*> load();
  /// Returns the number of GPUs. ERRORS (kRequest): there is no GPU or no driver.
  static core::Expected<int> count(const TuttiCudaApi& api);
  /// Creates the devices. REQUIRES: the function table outlives the devices; for every GPU in
  /// `options`, CUDA's device number is less than count(). ERRORS (kRun): a GPU cannot be used.
  static core::Expected<std::unique_ptr<CudaDevices>> open(const TuttiCudaApi& api,
                                                           CudaOptions options);
  ~CudaDevices() override;

  [[nodiscard]] bool host_reaches(core::Rank rank) const override { return !gpu_of(rank); }
  [[nodiscard]] Memory take(core::Rank rank, std::int64_t bytes, bool for_host) override;
  void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  bool perform(const Work& work, Ticket ticket) override;
  bool compute(core::Rank rank, Clock::time_point end) override;
  core::Expected<void> poll(WorkListener& listener) override;
  [[nodiscard]] Clock::time_point next_due() const override;
  [[nodiscard]] std::vector<std::string> notes() const override;

  // --- For libraries, such as NCCL, that put work on streams themselves ---

  /// Returns CUDA's number of the rank's GPU; -1 if the rank is on the host.
  [[nodiscard]] int device_of(core::Rank rank) const;
  /// Returns the rank's cudaStream_t for work of other libraries; null if a device has failed, or
  /// if the rank is on the host.
  [[nodiscard]] void* outside_stream(core::Rank rank);
  /// Arranges that WorkListener::worked(ticket) is called when all work that was put on
  /// outside_stream(rank) before this call is done.
  void mark(core::Rank rank, Ticket ticket);
  /// Converts a time of the rank's GPU to this process's clock, with an error of at most a few
  /// microseconds. A call may wait for the GPU, because the clocks have to be aligned from time to
  /// time. Returns nullopt if a device has failed.
  [[nodiscard]] std::optional<Clock::time_point> time_of(core::Rank rank, std::uint64_t device_ns);
  /// Enqueues `work` on the outside_stream() of the work's rank, after the stream's earlier work.
  void perform_outside(const Work& work);

 private:
  struct Gpu {
    int device = 0;
    TuttiCudaDeviceInfo info{};
    TuttiCudaStream* copies = nullptr;  ///< stream for copy_now()
    std::vector<TuttiCudaEvent*> events;
    std::vector<std::string> ranks;
    DeviceClock clock;
    Memory stamp;  ///< memory to which the GPU writes its clock's time
  };
  struct Pending {
    TuttiCudaEvent* event = nullptr;
    Ticket ticket = 0;
  };
  struct Queue {
    Gpu* gpu = nullptr;
    TuttiCudaStream* stream = nullptr;
    std::deque<Pending> pending;
    bool active = false;
  };

  CudaDevices(const TuttiCudaApi& api, CudaOptions options);
  core::Expected<void> open_gpus();
  [[nodiscard]] Gpu* gpu_of(core::Rank rank) const;
  Queue* queue_of(core::Rank rank, core::Lane lane);
  TuttiCudaEvent* event_of(Gpu& gpu);
  void put(Queue& queue, const Work& work);
  void mark(Queue& queue, Ticket ticket);
  bool succeeded(int error, const std::string& doing, const Gpu* gpu);
  [[nodiscard]] std::byte* substitute(std::int64_t bytes);
  static void give_back(void* self, std::byte* memory);

  const TuttiCudaApi& api_;
  CudaOptions options_;
  MemoryPool pool_;
  BusyStreams busy_;
  std::map<int, std::unique_ptr<Gpu>> gpus_;  ///< indexed by CUDA's device number
  std::map<core::Rank, Gpu*> gpu_of_rank_;
  std::map<std::pair<core::Rank, core::Lane>, Queue> queues_;
  std::vector<Queue*> active_;  ///< queues that have pending work
  std::vector<Ticket> done_;
  std::vector<BusyStreams::Span> computed_;
  Clock::time_point last_change_;
  /// The host memory that take() has returned after a failure, with the size of each block in
  /// bytes.
  std::map<std::byte*, std::int64_t> substitutes_;
  std::vector<std::string> peer_notes_;
  std::string failure_;
};

/// Returns a message that explains a CUDA error and how to fix it. `doing`: the activity that
/// failed, such as "copying". `where`: the device, such as "GPU 0 (NVIDIA H100)", or empty.
std::string cuda_error(const TuttiCudaApi& api, int error, const std::string& doing,
                       const std::string& where);

}  // namespace tutti::real
