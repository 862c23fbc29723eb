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
  std::string name;  ///< name in messages, such as "w0/gpu1"
  int device = 0;    ///< CUDA's number of the device; several ranks may share it
};

struct CudaOptions {
  std::vector<CudaRank> gpus;  ///< ranks on GPUs; all other ranks are on the host
  /// The time for which a waiting thread polls a device without pauses before it polls with pauses.
  /// 0 if there are fewer cores than ranks.
  std::chrono::nanoseconds spin{50'000};
  bool shared = false;  ///< true: ranks of other processes use these GPUs too
};

/// Ranks on GPUs: their buffers lie in the GPU's memory, Tutti's own kernels process them, and each
/// lane has a stream. The other ranks (pscpu's hosts) work on the host, in pinned pages that GPUs
/// copy from and to at full speed, so what they sum has really been staged there.
///
/// Errors of CUDA are sticky: after the first, no device is used any more, and poll() reports it.
/// take() then returns memory of the host, so that callers need not check for failure before each
/// use.
class CudaDevices : public Devices {
 public:
  /// Returns the table of the CUDA module. ERRORS (kRequest): there is none, see load_api().
  static core::Expected<const TuttiCudaApi*> load();
  /// Returns the number of GPUs. ERRORS (kRequest): none, or no driver.
  static core::Expected<int> count(const TuttiCudaApi& api);
  /// REQUIRES: the table outlives the devices; GPUs are below count(). ERRORS (kRun): a GPU cannot
  /// be used.
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

  // For libraries that put work on streams themselves.

  /// Returns CUDA's number of the rank's GPU; -1 if the rank is on the host.
  [[nodiscard]] int device_of(core::Rank rank) const;
  /// Returns the rank's cudaStream_t for work of other libraries; null if a device has failed, or
  /// the rank is on the host.
  [[nodiscard]] void* outside_stream(core::Rank rank);
  /// Causes WorkListener::worked(ticket) when all work so far on outside_stream(rank) is done.
  void mark(core::Rank rank, Ticket ticket);
  /// Converts a time of the rank's GPU to this process's clock, within some microseconds. Waits for
  /// the GPU now and then. Returns nothing if a device has failed.
  [[nodiscard]] std::optional<Clock::time_point> time_of(core::Rank rank, std::uint64_t device_ns);
  /// Adds Work to outside_stream(rank), after the work it was given.
  void perform_outside(const Work& work);

 private:
  struct Gpu {
    int device = 0;
    TuttiCudaDeviceInfo info{};
    TuttiCudaStream* copies = nullptr;  ///< stream for copy_now()
    std::vector<TuttiCudaEvent*> events;
    std::vector<std::string> ranks;
    DeviceClock clock;
    Memory stamp;  ///< memory for the clock's time stamp
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
  bool right(int error, const std::string& doing, const Gpu* gpu);
  [[nodiscard]] std::byte* substitute(std::int64_t bytes);
  static void give_back(void* self, std::byte* memory);

  const TuttiCudaApi& api_;
  CudaOptions options_;
  MemoryPool pool_;
  BusyStreams busy_;
  std::map<int, std::unique_ptr<Gpu>> gpus_;  ///< by CUDA's number of the device
  std::map<core::Rank, Gpu*> gpu_of_rank_;
  std::map<std::pair<core::Rank, core::Lane>, Queue> queues_;
  std::vector<Queue*> active_;  ///< queues that have pending work
  std::vector<Ticket> done_;
  std::vector<BusyStreams::Span> computed_;
  Clock::time_point last_change_;
  std::map<std::byte*, std::int64_t> substitutes_;  ///< memory that take() provides after a failure
  std::vector<std::string> peer_notes_;
  std::string failure_;
};

/// Returns a message that explains a CUDA error and how to fix it. `doing`: "copying"; `where`:
/// "GPU 0 (NVIDIA H100)" or empty.
std::string cuda_error(const TuttiCudaApi& api, int error, const std::string& doing,
                       const std::string& where);

}  // namespace tutti::real
