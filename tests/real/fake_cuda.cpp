// Implements the function table of the CUDA module in host memory (fake_cuda.h). Streams advance by
// random numbers of operations when events are queried. Device memory is inaccessible except while
// a stream works, so that a test that reads it directly crashes.

#include "tests/real/fake_cuda.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "real/cuda/module/elements.h"

namespace tutti::test {
namespace {

constexpr std::uint64_t kVaultBytes = std::uint64_t{4} << 30;
constexpr int kInvalidValue = 1;
constexpr int kIllegalAddress = 700;

using real::Bfloat;
using real::Half;
using real::cuda::Op;

template <Op op, class Element>
void combine(void* target, const void* a, const void* b, std::int64_t count) {
  auto* const t = static_cast<Element*>(target);
  for (std::int64_t i = 0; i < count; ++i)
    t[i] = real::cuda::combined_element<op>(static_cast<const Element*>(a)[i],
                                            static_cast<const Element*>(b)[i]);
}

template <class Element>
void scale(void* target, std::int64_t count, double factor) {
  auto* const t = static_cast<Element*>(target);
  for (std::int64_t i = 0; i < count; ++i) t[i] = real::cuda::scaled(t[i], factor);
}

template <class Element>
void combine_by(int operation, void* target, const void* a, const void* b, std::int64_t count) {
  switch (operation) {
    case 0: return combine<Op::kSum, Element>(target, a, b, count);
    case 1: return combine<Op::kMin, Element>(target, a, b, count);
    case 2: return combine<Op::kMax, Element>(target, a, b, count);
    default: return combine<Op::kProduct, Element>(target, a, b, count);
  }
}

std::uint64_t item_of(int type) {
  return type == 2 || type == 6 ? 8 : type == 3 || type == 4 ? 2 : 4;
}

}  // namespace

void fake_combine(int operation, int type, void* target, const void* a, const void* b,
                  std::int64_t count) {
  switch (type) {
    case 1: return combine_by<float>(operation, target, a, b, count);
    case 2: return combine_by<double>(operation, target, a, b, count);
    case 3: return combine_by<Half>(operation, target, a, b, count);
    case 4: return combine_by<Bfloat>(operation, target, a, b, count);
    case 5: return combine_by<std::int32_t>(operation, target, a, b, count);
    default: return combine_by<std::int64_t>(operation, target, a, b, count);
  }
}

namespace {

void fake_scale(int type, void* target, std::int64_t count, double factor) {
  switch (type) {
    case 1: return scale<float>(target, count, factor);
    case 2: return scale<double>(target, count, factor);
    case 3: return scale<Half>(target, count, factor);
    case 4: return scale<Bfloat>(target, count, factor);
    case 5: return scale<std::int32_t>(target, count, factor);
    default: return scale<std::int64_t>(target, count, factor);
  }
}

int number_in(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace

FakeCudaOptions FakeCudaOptions::from_environment() {
  FakeCudaOptions options;
  options.devices = number_in("TUTTI_FAKE_GPUS", options.devices);
  options.count_error = number_in("TUTTI_FAKE_CUDA_ERROR", 0);
  options.fails_at = number_in("TUTTI_FAKE_CUDA_FAILS_AT", -1);
  return options;
}

FakeCuda& FakeCuda::the() {
  static FakeCuda one;
  return one;
}

FakeCuda::FakeCuda() {
  void* const memory =
      ::mmap(nullptr, kVaultBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  vault_ = static_cast<std::byte*>(memory);
  reset(FakeCudaOptions::from_environment());
}

FakeCuda::~FakeCuda() { ::munmap(vault_, kVaultBytes); }

void FakeCuda::reset(const FakeCudaOptions& options) {
  options_ = options;
  random_.seed(options.seed);
  used_ = 0;
  max_streams_ = kernels_ = error_ = 0;
}

/// Makes the memory of devices inaccessible, except while work is done.
void FakeCuda::lock(bool locked) {
  ::mprotect(vault_, used_, locked ? PROT_NONE : PROT_READ | PROT_WRITE);
}

int FakeCuda::allocate(int device, std::uint64_t bytes, void** memory) {
  if (error_ != 0) return error_;
  *memory = nullptr;
  const std::uint64_t size = (bytes + 4095) / 4096 * 4096;
  if (taken_[device] + static_cast<std::int64_t>(size) > options_.memory_bytes ||
      used_ + size > kVaultBytes)
    return kTuttiCudaOutOfMemory;
  taken_[device] += static_cast<std::int64_t>(size);
  device_blocks_[vault_ + used_] = {device, size};
  *memory = vault_ + used_;
  used_ += size;
  return 0;
}

int FakeCuda::release(int device, void* memory) {
  const auto block = device_blocks_.find(static_cast<std::byte*>(memory));
  if (block == device_blocks_.end() || block->second.device != device) return kInvalidValue;
  taken_[device] -= static_cast<std::int64_t>(block->second.bytes);
  device_blocks_.erase(block);
  if (device_blocks_.empty()) {
    ::madvise(vault_, used_, MADV_DONTNEED);
    used_ = 0;
  }
  return error_;
}

int FakeCuda::allocate_host(std::uint64_t bytes, void** memory) {
  if (error_ != 0) return error_;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  host_blocks_[static_cast<std::byte*>(*memory)] = bytes;
  return 0;
}

int FakeCuda::release_host(void* memory) {
  if (host_blocks_.erase(static_cast<std::byte*>(memory)) == 0) return kInvalidValue;
  std::free(memory);
  return error_;
}

int FakeCuda::make_stream(int device, TuttiCudaStream** stream) {
  if (error_ != 0) return error_;
  *stream = new TuttiCudaStream{device, {}};
  streams_.insert(*stream);
  max_streams_ = std::max(max_streams_, static_cast<int>(streams_.size()));
  return 0;
}

int FakeCuda::destroy_stream(TuttiCudaStream* stream) {
  if (streams_.erase(stream) == 0) return kInvalidValue;
  delete stream;
  return error_;
}

/// Advances the first operation of the stream. Returns true if it has completed.
bool FakeCuda::advance(TuttiCudaStream& stream) {
  if (stream.work.empty() || !stream.work.front()()) return false;
  stream.work.pop_front();
  return true;
}

/// Executes zero, one or two operations of the stream.
void FakeCuda::advance_by_luck(TuttiCudaStream& stream) {
  for (auto n = random_() % 3; n > 0 && advance(stream); --n) {
  }
}

int FakeCuda::synchronize(TuttiCudaStream* stream) {
  // Other streams may have to advance first.
  while (!stream->work.empty() && error_ == 0) {
    for (TuttiCudaStream* const each : streams_) advance(*each);
  }
  return error_;
}

int FakeCuda::make_event(int device, TuttiCudaEvent** event) {
  if (error_ != 0) return error_;
  *event = new TuttiCudaEvent{device, nullptr, true};
  ++events_;
  return 0;
}

int FakeCuda::destroy_event(TuttiCudaEvent* event) {
  // A queued operation may still set the event. After an error, nothing waits for that operation.
  if (!event->done && error_ == 0) std::abort();
  if (!event->done) {
    for (TuttiCudaStream* const stream : streams_) stream->work.clear();
  }
  delete event;
  --events_;
  return error_;
}

int FakeCuda::record(TuttiCudaEvent* event, TuttiCudaStream* stream) {
  if (error_ != 0) return error_;
  if (event->device != stream->device || !event->done) return kInvalidValue;
  event->done = false;
  event->stream = stream;
  stream->work.emplace_back([event] { return event->done = true; });
  return 0;
}

int FakeCuda::query(TuttiCudaEvent* event) {
  if (!event->done) advance_by_luck(*event->stream);
  if (error_ != 0) return error_;
  return event->done ? 0 : kTuttiCudaNotReady;
}

/// Returns true if a kernel of `device` can access the memory: its own memory, pinned pages of the
/// host, and the memory of peer devices.
bool FakeCuda::reaches(int device, const Use& use) const {
  const auto* const begin = static_cast<const std::byte*>(use.memory);
  if (auto block = device_blocks_.upper_bound(begin); block != device_blocks_.begin()) {
    --block;
    if (begin + use.bytes <= block->first + block->second.bytes)
      return block->second.device == device || options_.peers;
  }
  if (auto block = host_blocks_.upper_bound(begin); block != host_blocks_.begin()) {
    --block;
    if (begin + use.bytes <= block->first + block->second) return true;
  }
  return false;
}

int FakeCuda::launch(TuttiCudaStream* stream, std::vector<Use> uses, std::function<bool()> kernel) {
  if (error_ != 0) return error_;
  const int device = stream->device;
  const bool fails = kernels_++ == options_.fails_at;
  stream->work.emplace_back(
      [this, device, fails, uses = std::move(uses), kernel = std::move(kernel)] {
        const bool illegal = std::any_of(uses.begin(), uses.end(),
                                         [&](const Use& use) { return !reaches(device, use); });
        if (illegal || fails) error_ = kIllegalAddress;
        if (error_ != 0) return false;
        lock(false);
        const bool done = kernel();
        lock(true);
        return done;
      });
  return 0;
}

int FakeCuda::copy(TuttiCudaStream* stream, void* to, const void* from, std::uint64_t bytes) {
  // Copies can access all memory, including unpinned pages of the host.
  return launch(stream, {}, [to, from, bytes] {
    std::memmove(to, from, bytes);
    return true;
  });
}

/// The device's clock runs at the same rate as the host's, with another zero.
std::uint64_t FakeCuda::clock() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()) + 1'000'000'000'000'000u;
}

namespace {

FakeCuda& fake() { return FakeCuda::the(); }

const TuttiCudaApi kApi{
    kTuttiCudaInterface, sizeof(TuttiCudaApi), "a fake of the tests",
    // error_name, error_text
    [](int error) {
      return error == kTuttiCudaNoDevice ? "cudaErrorNoDevice" : "cudaErrorOfTheTests";
    },
    [](int error) {
      return error == kTuttiCudaNoDevice ? "no CUDA-capable device is detected"
                                         : "an error of the tests";
    },
    // device_count, device_info, memory_left, enable_peer
    [](int* count) {
      *count = fake().options().devices;
      return fake().options().count_error;
    },
    [](int device, TuttiCudaDeviceInfo* info) {
      *info = {};
      std::snprintf(info->name, sizeof info->name, "Fake GPU");
      std::snprintf(info->bus_id, sizeof info->bus_id, "0000:%02x:00.0",
                    static_cast<unsigned>(device & 0xff));
      info->memory_bytes = static_cast<std::uint64_t>(fake().options().memory_bytes);
      info->major = 9;
      return fake().error();
    },
    [](int, std::uint64_t* bytes) {
      *bytes = 0;
      return fake().error();
    },
    [](int, int, int* enabled) {
      *enabled = fake().options().peers ? 1 : 0;
      return fake().error();
    },
    // memory
    [](int device, std::uint64_t bytes, void** memory) {
      return fake().allocate(device, bytes, memory);
    },
    [](int device, void* memory) { return fake().release(device, memory); },
    [](int, std::uint64_t bytes, void** memory) { return fake().allocate_host(bytes, memory); },
    [](void* memory) { return fake().release_host(memory); },
    // streams and events
    [](int device, int, TuttiCudaStream** stream) { return fake().make_stream(device, stream); },
    [](TuttiCudaStream* stream) { return fake().destroy_stream(stream); },
    [](TuttiCudaStream* stream) { return fake().synchronize(stream); },
    [](TuttiCudaStream* stream) { return static_cast<void*>(stream); },
    [](int device, TuttiCudaEvent** event) { return fake().make_event(device, event); },
    [](TuttiCudaEvent* event) { return fake().destroy_event(event); },
    [](TuttiCudaEvent* event, TuttiCudaStream* stream) { return fake().record(event, stream); },
    [](TuttiCudaEvent* event) { return fake().query(event); },
    // work
    [](TuttiCudaStream* stream, void* to, const void* from, std::uint64_t bytes) {
      return fake().copy(stream, to, from, bytes);
    },
    [](TuttiCudaStream* stream, int operation, int type, void* target, const void* a, const void* b,
       std::int64_t count) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(count) * item_of(type);
      return fake().launch(stream, {{target, bytes}, {a, bytes}, {b, bytes}}, [=] {
        fake_combine(operation, type, target, a, b, count);
        return true;
      });
    },
    [](TuttiCudaStream* stream, int operation, int type, void* target, const void* a,
       std::int64_t stride, std::int64_t inputs, int accumulate, std::int64_t count) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(count) * item_of(type);
      std::vector<FakeCuda::Use> uses{{target, bytes}};
      for (std::int64_t n = 0; n < inputs; ++n)
        uses.push_back({static_cast<const std::byte*>(a) + n * stride, bytes});
      return fake().launch(stream, uses, [=] {
        if (!accumulate) std::memmove(target, a, bytes);
        for (std::int64_t n = accumulate ? 0 : 1; n < inputs; ++n)
          fake_combine(operation, type, target, target,
                       static_cast<const std::byte*>(a) + n * stride, count);
        return true;
      });
    },
    [](TuttiCudaStream* stream, int type, void* target, std::int64_t count, double factor) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(count) * item_of(type);
      return fake().launch(stream, {{target, bytes}}, [=] {
        fake_scale(type, target, count, factor);
        return true;
      });
    },
    // clocks
    [](TuttiCudaStream* stream, std::uint64_t* stamp) {
      return fake().launch(stream, {{stamp, sizeof *stamp}}, [=] {
        *stamp = fake().clock();
        return true;
      });
    },
    [](TuttiCudaStream* stream, std::uint64_t until, std::uint64_t most, std::uint64_t* stamps) {
      auto begin = std::make_shared<std::uint64_t>(0);
      return fake().launch(stream, {{stamps, 2 * sizeof *stamps}}, [=] {
        const std::uint64_t now = fake().clock();
        if (*begin == 0) *begin = now;
        if (now < until && now - *begin < most) return false;
        stamps[0] = *begin;
        stamps[1] = now;
        return true;
      });
    }};

}  // namespace

const TuttiCudaApi& FakeCuda::api() const { return kApi; }

}  // namespace tutti::test
