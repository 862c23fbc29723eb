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

/// An arithmetic operation or a copy on the device of one rank.
struct Work {
  enum class Kind : std::uint8_t {
    kCombine,  ///< target[i] = a[i] ⊕ b[i]
    kReduce,  ///< target = a ⊕ (a + stride) ⊕ … over `inputs` ranges; if `accumulate` is true, also
              ///< ⊕ the old value of target
    kScale,  ///< target[i] = target[i] · factor
    kCopy,   ///< target = a on the device
    /// Computes target = a. Copies a piece of a message between the device's memory and a buffer
    /// that the host can access.
    kMove
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

/// Interface for notifications about completed work.
class WorkListener {
 public:
  virtual ~WorkListener() = default;
  /// Called when the work with this ticket is complete.
  virtual void worked(Ticket ticket) = 0;
  /// Called when the computation of the rank's oldest pending call of Devices::compute() has ended,
  /// with the start and end time of the computation.
  virtual void computed(core::Rank, Transport::Clock::time_point, Transport::Clock::time_point) {}
};

/// The devices of this process's ranks. The devices hold the ranks' buffers, and compute on these
/// buffers. Memory that the host cannot access is read and written only through Work.
class Devices {
 public:
  using Clock = Transport::Clock;
  struct Release {
    void (*give_back)(void* owner, std::byte* memory) = nullptr;
    void* owner = nullptr;
    void operator()(std::byte* memory) const { give_back(owner, memory); }
  };
  /// An owned buffer. The content of the memory is not initialised.
  using Memory = std::unique_ptr<std::byte[], Release>;

  virtual ~Devices() = default;

  /// Returns true if the host can read and write the rank's memory directly.
  [[nodiscard]] virtual bool host_reaches(core::Rank rank) const = 0;
  /// Returns a buffer that the rank's device can access. If `for_host` is true, the host can also
  /// access the buffer.
  /// REQUIRES: bytes ≥ 0.
  [[nodiscard]] virtual Memory take(core::Rank rank, std::int64_t bytes, bool for_host) = 0;
  /// Copies synchronously. Source and target may each be in a buffer from take() or in host memory.
  virtual void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;

  /// Executes `work` after the earlier work of the same lane. Returns true if `work` is already
  /// complete. If `work` is not complete, poll() calls WorkListener::worked(ticket) later. For the
  /// work of one lane, these calls are in order.
  virtual bool perform(const Work& work, Ticket ticket) = 0;
  /// Returns true if two conditions hold: perform() always completes its work before it returns,
  /// and the host can access the memory of every rank. If both conditions hold, a lane can begin a
  /// step before the previous step is complete.
  [[nodiscard]] virtual bool at_once() const { return false; }
  /// Replays computation: keeps a stream of the rank's device busy until time `end`, after the
  /// computation of earlier calls. The stream is separate from other work. The function poll() then
  /// calls WorkListener::computed(). Returns false if the device has no separate stream; the caller
  /// then only waits until `end`.
  virtual bool compute(core::Rank, Clock::time_point) { return false; }
  /// Reports completed work to `listener`. ERRORS: a device has failed.
  virtual core::Expected<void> poll(WorkListener& listener) = 0;
  /// Returns the time at which poll() may have something to report; max() if no work is in flight.
  [[nodiscard]] virtual Clock::time_point next_due() const = 0;
  /// Returns notes about the devices. The report shows these notes together with the measured
  /// times.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Devices for ranks in host memory. The calling thread executes all work immediately. Large
/// buffers use huge pages, and are kept for later requests, because the first access to a page
/// costs more than the reduction of its data.
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

/// Executes the work on the calling thread.
void perform_here(const Work& work);

}  // namespace tutti::real
