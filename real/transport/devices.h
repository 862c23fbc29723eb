#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/schedule/step.h"
#include "real/elements/element_ops.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// Arithmetic or a copy on one rank's device.
struct Work {
  enum class Kind : std::uint8_t {
    kCombine,  ///< target[i] = a[i] ⊕ b[i]
    kReduce,  ///< target = a ⊕ (a + stride) ⊕ …, over `inputs` ranges; with `accumulate`, also ⊕
              ///< the old target
    kScale,  ///< target[i] = target[i] · factor
    kCopy,   ///< target = a, on the device
    kMove    ///< target = a, between the device and a buffer that the host can access: part of a
             ///< message's path
  };
  Kind kind = Kind::kCopy;
  core::Rank rank = 0;
  core::Lane lane = 0;
  Operation operation = Operation::kSum;
  core::DataType type = core::DataType::kFloat32;
  std::byte* target = nullptr;
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::int64_t count = 0;  ///< number of elements of target
  std::int64_t inputs = 0;
  std::int64_t stride = 0;  ///< bytes from one input to the next
  bool accumulate = false;
  double factor = 1;
};

/// The receiver of events about work.
class WorkListener {
 public:
  virtual ~WorkListener() = default;
  /// The work of `ticket` is done.
  virtual void worked(Ticket ticket) = 0;
  /// The next Devices::compute() of this rank has ended, with its start and end.
  virtual void computed(core::Rank, Transport::Clock::time_point, Transport::Clock::time_point) {}
};

/// The devices of this process's ranks, which hold their buffers and compute on them. A device's
/// memory is accessed only through Work, unless the host can access it.
class Devices {
 public:
  using Clock = Transport::Clock;
  struct Release {
    void (*give_back)(void* owner, std::byte* memory) = nullptr;
    void* owner = nullptr;
    void operator()(std::byte* memory) const { give_back(owner, memory); }
  };
  /// A buffer, freed at the end of its lifetime. Its content is not initialised.
  using Memory = std::unique_ptr<std::byte[], Release>;

  virtual ~Devices() = default;

  /// True if the host can read and write the rank's memory directly.
  [[nodiscard]] virtual bool host_reaches(core::Rank rank) const = 0;
  /// Returns a buffer that the rank's device can access; with `for_host`, the host too. REQUIRES:
  /// bytes ≥ 0.
  [[nodiscard]] virtual Memory take(core::Rank rank, std::int64_t bytes, bool for_host) = 0;
  /// Copies between any two of these buffers (or host memory) synchronously.
  virtual void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;

  /// Executes `work` after the earlier work of the same lane. Returns true if it is done; otherwise
  /// poll() calls WorkListener::worked(ticket), in order for each lane.
  virtual bool perform(const Work& work, Ticket ticket) = 0;
  /// True if perform() always completes its work before it returns, and the host can access the
  /// memory of every rank. A lane then need not complete each step before the next.
  [[nodiscard]] virtual bool at_once() const { return false; }
  /// Keeps the rank's device busy until `end`, on a separate stream and after earlier calls:
  /// replayed computation. poll() calls WorkListener::computed(). Returns false if the device has
  /// no such stream; then computation is only time that passes, and is not reported.
  virtual bool compute(core::Rank, Clock::time_point) { return false; }
  /// Reports work that is done. ERRORS: a device has failed.
  virtual core::Expected<void> poll(WorkListener& listener) = 0;
  /// The time by which poll() may have something to report; max() if no work is in flight.
  [[nodiscard]] virtual Clock::time_point next_due() const = 0;
  /// Notes about the devices for readers of the run's times.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Ranks in the process's own memory, whose cores do the work at once. Large buffers lie in huge
/// pages, and are kept for later requests: first touching a page costs more than reducing it.
class HostDevices : public Devices {
 public:
  HostDevices();
  ~HostDevices() override;
  [[nodiscard]] bool host_reaches(core::Rank) const override { return true; }
  [[nodiscard]] Memory take(core::Rank rank, std::int64_t bytes, bool for_host) override;
  void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  bool perform(const Work& work, Ticket ticket) override;
  [[nodiscard]] bool at_once() const override { return true; }
  core::Expected<void> poll(WorkListener&) override { return {}; }
  [[nodiscard]] Clock::time_point next_due() const override { return Clock::time_point::max(); }

 private:
  class Store;
  std::unique_ptr<Store> store_;
};

/// Executes the work on the current core.
void perform_here(const Work& work);

}  // namespace tutti::real
