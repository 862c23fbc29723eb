// Work on GPUs is asynchronous. The function perform() enqueues a kernel or a copy on the lane's
// stream, followed by an event. The function poll() asks CUDA which events are complete, and
// reports the tickets of the corresponding work. A stream executes its work in order, so poll()
// checks only the oldest event of each stream. A waiting thread polls without pauses for `spin`
// after the last change, and then every 50 µs. The first error is stored in `failure_`, and all
// later calls do nothing. The function take() then returns host memory, so that callers need no
// checks. All calls of CUDA go through a table of functions of a separately built module (api.h),
// so Tutti also runs without CUDA. The memory pool, replayed computation and clocks have their own
// files.

#include "real/cuda/cuda_devices.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "real/process/module.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

/// The maximum number of streams of a rank, since a device executes only a limited number
/// concurrently. Further lanes share them.
constexpr core::Lane kStreamsPerRank = 16;
constexpr core::Lane kOutside = -1;
/// The interval between polls of a device while it executes long work.
constexpr std::chrono::microseconds kPause{50};

std::string name_of(int device, const TuttiCudaDeviceInfo& info) {
  return fmt::format("GPU {} ({})", device, static_cast<const char*>(info.name));
}

const char* what_to_do(int error) {
  switch (error) {
    case kTuttiCudaNoDriver:
      return "install NVIDIA's driver, or a newer driver (nvidia-smi shows the installed version)";
    case kTuttiCudaNoDevice:
      return "nvidia-smi -L lists the GPUs of this machine; CUDA_VISIBLE_DEVICES may hide some";
    case kTuttiCudaOutOfMemory: return "put fewer ranks on the GPU, or make packs smaller";
    case 46:
      return "another process uses the GPU exclusively (nvidia-smi -q -d COMPUTE shows the compute "
             "mode)";
    case 209:
    case 222:
      return "build Tutti's CUDA module for this GPU (-DTUTTI_CUDA_ARCHITECTURES=…), or install a "
             "newer driver";
    case 802: return "machines with NVSwitch need nvidia-fabricmanager to be running";
    default:
      return "see the GPU's log (dmesg | grep -i xid), or run the program under compute-sanitizer";
  }
}

}  // namespace

std::string cuda_error(const TuttiCudaApi& api, int error, const std::string& doing,
                       const std::string& where) {
  return fmt::format("CUDA{}{}: {}: {} ({}, {}); {}", where.empty() ? "" : ", ", where, doing,
                     api.error_text(error), api.error_name(error), error, what_to_do(error));
}

// --- opening ---

Expected<const TuttiCudaApi*> CudaDevices::load() {
  return load_api<TuttiCudaApi, TuttiCudaEntry>("tutti_cuda", kTuttiCudaEntry, kTuttiCudaInterface,
                                                "--backend cuda", "the CUDA toolkit");
}

Expected<int> CudaDevices::count(const TuttiCudaApi& api) {
  int devices = 0;
  int error = api.device_count(&devices);
  if (error == 0 && devices == 0) error = kTuttiCudaNoDevice;
  if (error == 0) return devices;
  return tl::make_unexpected(Error::request({core::ProblemCode::kMissing, "--backend"},
                                            cuda_error(api, error, "looking for GPUs", "")));
}

CudaDevices::CudaDevices(const TuttiCudaApi& api, CudaOptions options)
    : api_(api), options_(std::move(options)), pool_(api), busy_(api, pool_) {}

Expected<std::unique_ptr<CudaDevices>> CudaDevices::open(const TuttiCudaApi& api,
                                                         CudaOptions options) {
  std::unique_ptr<CudaDevices> devices(new CudaDevices(api, std::move(options)));
  if (auto opened = devices->open_gpus(); !opened) return tl::make_unexpected(opened.error());
  return devices;
}

Expected<void> CudaDevices::open_gpus() {
  const auto failed = [this] {
    return tl::make_unexpected(Error::run({core::ProblemCode::kSystem}, failure_));
  };
  for (const CudaRank& rank : options_.gpus) {
    std::unique_ptr<Gpu>& gpu = gpus_[rank.device];
    if (!gpu) {
      gpu = std::make_unique<Gpu>();
      gpu->device = rank.device;
      if (!succeeded(api_.device_info(rank.device, &gpu->info), "querying the GPU", gpu.get()) ||
          !succeeded(api_.make_stream(rank.device, 1, &gpu->copies), "creating a stream",
                     gpu.get()))
        return failed();
    }
    gpu->ranks.push_back(rank.name);
    gpu_of_rank_[rank.rank] = gpu.get();
  }
  for (const auto& [device, gpu] : gpus_) {
    for (const auto& [other, peer] : gpus_) {
      if (device == other) continue;
      int enabled = 0;
      if (!succeeded(api_.enable_peer(device, other, &enabled),
                     "enabling access to another GPU's memory", gpu.get()))
        return failed();
      if (!enabled)
        peer_notes_.push_back(fmt::format(
            "GPU {} cannot access GPU {} directly, so copies between them pass through host memory",
            device, other));
    }
  }
  return {};
}

CudaDevices::~CudaDevices() {
  // Wait for all work in flight, since the memory that is freed next must not be in use.
  busy_.stop();
  for (auto& [key, queue] : queues_) {
    if (!queue.stream) continue;
    static_cast<void>(api_.synchronize(queue.stream));
    for (const Pending& pending : queue.pending)
      static_cast<void>(api_.destroy_event(pending.event));
    static_cast<void>(api_.destroy_stream(queue.stream));
  }
  for (auto& [device, gpu] : gpus_) {
    gpu->stamp.reset();
    for (TuttiCudaEvent* const event : gpu->events) static_cast<void>(api_.destroy_event(event));
    if (!gpu->copies) continue;
    static_cast<void>(api_.synchronize(gpu->copies));
    static_cast<void>(api_.destroy_stream(gpu->copies));
  }
  for (const auto& [memory, bytes] : substitutes_)
    ::munmap(memory, static_cast<std::size_t>(bytes));
}

std::vector<std::string> CudaDevices::notes() const {
  std::vector<std::string> notes;
  for (const auto& [device, gpu] : gpus_) {
    notes.push_back(fmt::format("{} {} on {}, compute capability {}.{}, at {}; {}",
                                fmt::join(gpu->ranks, ", "), gpu->ranks.size() == 1 ? "is" : "are",
                                name_of(device, gpu->info), gpu->info.major, gpu->info.minor,
                                static_cast<const char*>(gpu->info.bus_id), api_.description));
    if (gpu->ranks.size() > 1) {
      notes.push_back(fmt::format(
          "{} ranks share GPU {}, so the measured times do not apply to {} separate GPUs",
          gpu->ranks.size(), device, gpu->ranks.size()));
    }
  }
  if (options_.shared)
    notes.emplace_back(
        "ranks of several processes share this machine's GPUs, so the measured times do not apply "
        "to separate GPUs");
  notes.insert(notes.end(), peer_notes_.begin(), peer_notes_.end());
  return notes;
}

// --- errors ---

/// Stores the error of a CUDA call on a device, if it is the first error. Returns true if this call
/// and all earlier calls succeeded.
bool CudaDevices::succeeded(int error, const std::string& doing, const Gpu* gpu) {
  if (error != 0 && failure_.empty())
    failure_ = cuda_error(api_, error, doing, gpu ? name_of(gpu->device, gpu->info) : "");
  return failure_.empty();
}

/// Returns host memory in place of device memory, after an error. A page uses no physical memory
/// before its first access.
std::byte* CudaDevices::substitute(std::int64_t bytes) {
  void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  substitutes_[static_cast<std::byte*>(memory)] = bytes;
  return static_cast<std::byte*>(memory);
}

// --- memory ---

CudaDevices::Gpu* CudaDevices::gpu_of(core::Rank rank) const {
  const auto found = gpu_of_rank_.find(rank);
  return found == gpu_of_rank_.end() ? nullptr : found->second;
}

int CudaDevices::device_of(core::Rank rank) const {
  const Gpu* const gpu = gpu_of(rank);
  return gpu ? gpu->device : -1;
}

Devices::Memory CudaDevices::take(core::Rank rank, std::int64_t bytes, bool for_host) {
  if (bytes == 0) return {nullptr, {give_back, this}};
  const Gpu* const gpu = gpu_of(rank);
  const Gpu* const near = gpu ? gpu : gpus_.begin()->second.get();
  const bool host = for_host || !gpu;
  if (failure_.empty()) {
    int error = 0;
    std::byte* const memory = pool_.take(near->device, host, bytes, error);
    if (memory) return {memory, {give_back, this}};
    std::uint64_t left = 0;
    static_cast<void>(api_.memory_left(near->device, &left));
    succeeded(
        error,
        host ? fmt::format("allocating {} MB more of host memory", bytes / 1'000'000)
             : fmt::format(
                   "allocating {} MB more (this process uses {} MB of the GPU's {} MB; {} MB are "
                   "free)",
                   bytes / 1'000'000, pool_.bytes_of(near->device) / 1'000'000,
                   near->info.memory_bytes / 1'000'000, left / 1'000'000),
        near);
  }
  return {substitute(bytes), {give_back, this}};
}

void CudaDevices::give_back(void* self, std::byte* memory) {
  auto* const devices = static_cast<CudaDevices*>(self);
  if (const auto own = devices->substitutes_.find(memory); own != devices->substitutes_.end()) {
    ::munmap(memory, static_cast<std::size_t>(own->second));
    devices->substitutes_.erase(own);
    return;
  }
  devices->pool_.give_back(memory);
}

void CudaDevices::copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes == 0 || !failure_.empty()) return;
  const int source = pool_.device_of(from);
  const int target = pool_.device_of(to);
  if (source == MemoryPool::kHost && target == MemoryPool::kHost) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  const Gpu& gpu = *gpus_.at(source == MemoryPool::kHost ? target : source);
  if (succeeded(api_.copy(gpu.copies, to, from, static_cast<std::uint64_t>(bytes)), "copying",
                &gpu))
    succeeded(api_.synchronize(gpu.copies), "copying", &gpu);
}

// --- work ---

/// Returns the queue of the lane's stream; null if a device has failed.
CudaDevices::Queue* CudaDevices::queue_of(core::Rank rank, core::Lane lane) {
  Queue& queue = queues_[{rank, lane < 0 ? lane : lane % kStreamsPerRank}];
  if (queue.stream) return &queue;
  queue.gpu = gpu_of(rank);
  TUTTI_CHECK(queue.gpu, "rank {} is not on a GPU", rank);
  return succeeded(api_.make_stream(queue.gpu->device, 1, &queue.stream), "creating a stream",
                   queue.gpu)
             ? &queue
             : nullptr;
}

/// Returns a free event of the device; null if the device has failed.
TuttiCudaEvent* CudaDevices::event_of(Gpu& gpu) {
  TuttiCudaEvent* event = nullptr;
  if (!gpu.events.empty()) {
    event = gpu.events.back();
    gpu.events.pop_back();
    return event;
  }
  return succeeded(api_.make_event(gpu.device, &event), "creating an event", &gpu) ? event
                                                                                   : nullptr;
}

bool CudaDevices::perform(const Work& work, Ticket ticket) {
  if (host_reaches(work.rank)) {
    perform_here(work);
    return true;
  }
  if (work.count == 0) return true;
  if (!failure_.empty()) return false;
  Queue* const queue = queue_of(work.rank, work.lane);
  if (!queue) return false;
  put(*queue, work);
  mark(*queue, ticket);
  return false;
}

void CudaDevices::put(Queue& queue, const Work& work) {
  const auto operation = static_cast<int>(work.operation);
  const auto type = static_cast<int>(work.type);
  int error = 0;
  const char* doing = "copying";
  switch (work.kind) {
    case Work::Kind::kCombine:
      doing = "combining";
      error = api_.combine(queue.stream, operation, type, work.target, work.a, work.b, work.count);
      break;
    case Work::Kind::kReduce:
      doing = "reducing";
      error = api_.reduce(queue.stream, operation, type, work.target, work.a, work.stride,
                          work.inputs, work.accumulate ? 1 : 0, work.count);
      break;
    case Work::Kind::kScale:
      doing = "scaling";
      error = api_.scale(queue.stream, type, work.target, work.count, work.factor);
      break;
    case Work::Kind::kCopy:
    case Work::Kind::kMove:
      error = api_.copy(queue.stream, work.target, work.a,
                        static_cast<std::uint64_t>(work.count * core::size_of(work.type).count()));
      break;
  }
  succeeded(error, doing, queue.gpu);
}

void CudaDevices::mark(Queue& queue, Ticket ticket) {
  TuttiCudaEvent* const event = failure_.empty() ? event_of(*queue.gpu) : nullptr;
  if (!event) return;
  queue.pending.push_back({event, ticket});
  succeeded(api_.record(event, queue.stream), "recording an event", queue.gpu);
  last_change_ = Clock::now();
  if (queue.active) return;
  queue.active = true;
  active_.push_back(&queue);
}

std::optional<Devices::Clock::time_point> CudaDevices::time_of(core::Rank rank,
                                                               std::uint64_t device_ns) {
  Gpu* const gpu = gpu_of(rank);
  TUTTI_CHECK(gpu, "rank {} is not on a GPU", rank);
  if (gpu->clock.is_old(Clock::now())) {
    constexpr std::int64_t kStampBytes = sizeof(std::uint64_t);
    if (!gpu->stamp) gpu->stamp = take(rank, kStampBytes, true);
    auto* const stamp = reinterpret_cast<std::uint64_t*>(gpu->stamp.get());
    if (!failure_.empty() ||
        !succeeded(gpu->clock.align(api_, gpu->copies, stamp), "reading its clock", gpu))
      return std::nullopt;
  }
  return gpu->clock.to_host(device_ns);
}

bool CudaDevices::compute(core::Rank rank, Clock::time_point end) {
  const Gpu* const gpu = gpu_of(rank);
  if (!gpu) return false;
  if (failure_.empty()) succeeded(busy_.ask(rank, gpu->device, end), "replaying computation", gpu);
  return true;
}

Expected<void> CudaDevices::poll(WorkListener& listener) {
  // Collect all completed work before notifying the listener, since the listener requests more
  // work.
  for (std::size_t i = 0; i < active_.size() && failure_.empty();) {
    Queue& queue = *active_[i];
    while (!queue.pending.empty()) {
      const int answer = api_.query(queue.pending.front().event);
      if (answer == kTuttiCudaNotReady ||
          !succeeded(answer, "executing the work of a lane", queue.gpu))
        break;
      queue.gpu->events.push_back(queue.pending.front().event);
      done_.push_back(queue.pending.front().ticket);
      queue.pending.pop_front();
    }
    queue.active = !queue.pending.empty();
    if (queue.active) {
      ++i;
    } else {
      active_[i] = active_.back();
      active_.pop_back();
    }
  }
  int device = -1;
  const int answer = failure_.empty() ? busy_.poll(computed_, device) : 0;
  if (answer != 0) succeeded(answer, "replaying computation", gpus_.at(device).get());
  if (!failure_.empty())
    return tl::make_unexpected(Error::run({core::ProblemCode::kSystem}, failure_));
  if (!done_.empty()) last_change_ = Clock::now();
  const std::vector<Ticket> done = std::exchange(done_, {});
  const std::vector<BusyStreams::Span> computed = std::exchange(computed_, {});
  for (const Ticket ticket : done) listener.worked(ticket);
  for (const BusyStreams::Span& span : computed) listener.computed(span.rank, span.start, span.end);
  return {};
}

Devices::Clock::time_point CudaDevices::next_due() const {
  if (!failure_.empty()) return {};
  const Clock::time_point now = Clock::now();
  const Clock::time_point look_again =
      now - last_change_ < options_.spin ? Clock::time_point() : now + kPause;
  Clock::time_point due = busy_.next_end();
  if (due < now) due = look_again;  // it has ended, but poll() has not seen its event
  return active_.empty() ? due : std::min(due, look_again);
}

// --- streams for other libraries ---

void* CudaDevices::outside_stream(core::Rank rank) {
  if (!failure_.empty() || !gpu_of(rank)) return nullptr;
  Queue* const queue = queue_of(rank, kOutside);
  return queue ? api_.native_stream(queue->stream) : nullptr;
}

void CudaDevices::mark(core::Rank rank, Ticket ticket) {
  if (Queue* const queue = failure_.empty() ? queue_of(rank, kOutside) : nullptr)
    mark(*queue, ticket);
}

void CudaDevices::perform_outside(const Work& work) {
  if (Queue* const queue =
          failure_.empty() && work.count > 0 ? queue_of(work.rank, kOutside) : nullptr)
    put(*queue, work);
}

}  // namespace tutti::real
