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

/// A stream of a fake device: what it was asked for, in order. An entry answers true when it is
/// done; until then it is called again.
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

/// What fake kernels do: target[i] = a[i] ⊕ b[i], by the numbers of real/cuda/api.h.
void fake_combine(int operation, int type, void* target, const void* a, const void* b,
                  std::int64_t count);

struct FakeCudaOptions {
  int devices = 2;
  std::int64_t memory_bytes = std::int64_t{256} << 20;  ///< of each device
  int count_error = 0;  ///< what asking for the number of devices answers
  int fails_at = -1;    ///< the so many-th kernel fails, and everything behind it
  bool peers = true;
  std::uint32_t seed = 7;
  /// From the environment of a process, for the module: TUTTI_FAKE_GPUS, TUTTI_FAKE_CUDA_ERROR,
  /// TUTTI_FAKE_CUDA_FAILS_AT.
  static FakeCudaOptions from_environment();
};

/// GPUs of the mind: the table of the CUDA module on the host's memory. Device memory cannot be
/// touched except by the work of streams; streams get on only when someone looks at their events,
/// and how far is a matter of luck; kernels refuse memory that a GPU would not reach. One per
/// process.
class FakeCuda {
 public:
  static FakeCuda& the();
  /// REQUIRES: nothing of it is in use.
  void reset(const FakeCudaOptions& options);
  [[nodiscard]] const TuttiCudaApi& api() const;

  /// What has been made and not been given back.
  [[nodiscard]] std::size_t streams() const { return streams_.size(); }
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t allocations() const {
    return device_blocks_.size() + host_blocks_.size();
  }
  [[nodiscard]] int most_streams() const { return most_streams_; }

  // For the table, and for others who put work on streams.
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
  /// Puts a kernel on a stream. `reads` and `writes` are checked when it is done.
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
  int most_streams_ = 0;
  int kernels_ = 0;
  int error_ = 0;  ///< lasts
};

}  // namespace tutti::test
