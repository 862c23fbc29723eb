#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "real/cuda/api.h"

/// A stream of a fake device, with its pending work in order. An entry is called repeatedly until
/// it returns true, which means that it is done.
struct TuttiCudaStream {
  int device = 0;
  std::deque<std::function<bool()>> work;
};

struct TuttiCudaEvent {
  int device = 0;
  TuttiCudaStream* stream = nullptr;
  bool done = true;
};

namespace tutti::test {

/// Computes target[i] = a[i] ⊕ b[i], as fake kernels do. `operation` and `type` have the numbers of
/// real/cuda/api.h.
void fake_combine(int operation, int type, void* target, const void* a, const void* b,
                  std::int64_t count);

struct FakeCudaOptions {
  int devices = 2;
  std::int64_t memory_bytes = std::int64_t{256} << 20;  ///< memory of each device
  int count_error = 0;                                  ///< the result of device_count()
  /// The number of the first kernel that fails. All later work fails, too. -1: none.
  int fails_at = -1;
  bool peers = true;
  std::uint32_t seed = 7;
  /// Returns the options that the environment variables TUTTI_FAKE_GPUS, TUTTI_FAKE_CUDA_ERROR and
  /// TUTTI_FAKE_CUDA_FAILS_AT set. Used by the fake module.
  static FakeCudaOptions from_environment();
};

/// Fake GPUs: implements the function table of the CUDA module in host memory. Only the work of
/// streams can access device memory. Streams advance only when events are queried, each time by a
/// random amount. Kernels fail if they use memory that the GPU cannot access. There is one object
/// per process.
class FakeCuda {
 public:
  static FakeCuda& the();
  /// Sets the options. REQUIRES: no stream, event or memory is in use.
  void reset(const FakeCudaOptions& options);
  [[nodiscard]] const TuttiCudaApi& api() const;

  /// Return the number of objects that were created and not destroyed.
  [[nodiscard]] std::size_t streams() const { return streams_.size(); }
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t allocations() const {
    return device_blocks_.size() + host_blocks_.size();
  }
  [[nodiscard]] int max_streams() const { return max_streams_; }

  // Used by the function table, and by other fakes that put work on streams.
  FakeCuda();
  ~FakeCuda();
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  int allocate(int device, std::uint64_t bytes, void** memory);
  int release(int device, void* memory);
  int allocate_host(std::uint64_t bytes, void** memory);
  int release_host(void* memory);
  int make_stream(int device, TuttiCudaStream** stream);
  int destroy_stream(TuttiCudaStream* stream);
  int synchronize(TuttiCudaStream* stream);
  int make_event(int device, TuttiCudaEvent** event);
  int destroy_event(TuttiCudaEvent* event);
  int record(TuttiCudaEvent* event, TuttiCudaStream* stream);
  int query(TuttiCudaEvent* event);
  /// A range of memory that a kernel uses. launch() puts a kernel on a stream; its ranges are
  /// checked when the kernel runs.
  struct Use {
    const void* memory = nullptr;
    std::uint64_t bytes = 0;
  };
  int launch(TuttiCudaStream* stream, std::vector<Use> uses, std::function<bool()> kernel);
  int copy(TuttiCudaStream* stream, void* to, const void* from, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t clock() const;
  [[nodiscard]] const FakeCudaOptions& options() const { return options_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  struct Block {
    int device = 0;
    std::uint64_t bytes = 0;
  };
  void lock(bool locked);
  bool advance(TuttiCudaStream& stream);
  void advance_by_luck(TuttiCudaStream& stream);
  [[nodiscard]] bool reaches(int device, const Use& use) const;

  FakeCudaOptions options_;
  std::mt19937 random_;
  std::byte* vault_ = nullptr;
  std::uint64_t used_ = 0;
  std::map<const std::byte*, Block> device_blocks_;
  std::map<const std::byte*, std::uint64_t> host_blocks_;
  std::map<int, std::int64_t> taken_;
  std::set<TuttiCudaStream*> streams_;
  std::size_t events_ = 0;
  int max_streams_ = 0;
  int kernels_ = 0;
  int error_ = 0;  ///< the first error, which is sticky
};

}  // namespace tutti::test
