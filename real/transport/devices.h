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
    kReduce,   ///< target = a ⊕ (a + stride) ⊕ …: `inputs` ranges; with `accumulate` also what target held
    kScale,    ///< target[i] = target[i] · factor
    kCopy,     ///< target = a, on the device
    kMove      ///< target = a, between the device and a buffer that the host reaches: part of a message's way
  };
  Kind kind = Kind::kCopy;
  core::Rank rank = 0;
  core::Lane lane = 0;
  Operation operation = Operation::kSum;
  core::DataType type = core::DataType::kFloat32;
  std::byte* target = nullptr;
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::int64_t count = 0;  ///< elements of target
  std::int64_t inputs = 0;
  std::int64_t stride = 0;  ///< bytes from one input to the next
  bool accumulate = false;
  double factor = 1;
};

/// Whoever asked for work.
class WorkListener {
 public:
  virtual ~WorkListener() = default;
  /// What `ticket` was given for is done.
  virtual void worked(Ticket ticket) = 0;
  /// The next of what Devices::compute() was asked for on this rank has ended; it began and ended then.
  virtual void computed(core::Rank, Transport::Clock::time_point, Transport::Clock::time_point) {}
};

/// The devices of this process's ranks: where buffers lie, and who computes on them. What lies in a device's memory is
/// for its Work alone, unless the host reaches it.
class Devices {
 public:
  using Clock = Transport::Clock;
  struct Release {
    void (*give_back)(void* owner, std::byte* memory) = nullptr;
    void* owner = nullptr;
    void operator()(std::byte* memory) const { give_back(owner, memory); }
  };
  /// A buffer, given back at its end. Its content is not initialised.
  using Memory = std::unique_ptr<std::byte[], Release>;

  virtual ~Devices() = default;

  /// The host reads and writes the rank's memory as its own.
  [[nodiscard]] virtual bool host_reaches(core::Rank rank) const = 0;
  /// A buffer that the rank's device reads and writes; with `for_host`, the host too. REQUIRES: bytes ≥ 0.
  [[nodiscard]] virtual Memory take(core::Rank rank, std::int64_t bytes, bool for_host) = 0;
  /// Copies between any two of these buffers (and host memory), before it returns.
  virtual void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;

  /// Does `work` behind what the same lane asked for before. True if it is done; else WorkListener::worked(ticket)
  /// follows from poll(), a lane's in their order.
  virtual bool perform(const Work& work, Ticket ticket) = 0;
  /// perform() is through with all work when it returns, on memory that the host reaches, for every rank: then a lane
  /// need not come to rest between steps.
  [[nodiscard]] virtual bool at_once() const { return false; }
  /// Keeps the rank's device busy until `end`, on a stream of its own and behind what it was asked to before: replayed
  /// computation. WorkListener::computed() follows from poll(). False if the device has no such stream; then time is all
  /// that passes, and nothing is told.
  virtual bool compute(core::Rank, Clock::time_point) { return false; }
  /// Tells of work that is done. ERRORS: a device has failed.
  virtual core::Expected<void> poll(WorkListener& listener) = 0;
  /// poll() may have something to tell by then; max() if nothing is under way.
  [[nodiscard]] virtual Clock::time_point next_due() const = 0;
  /// What whoever reads the run's times should know about the devices.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Ranks in the process's own memory; its cores do the work at once. Large buffers lie in huge pages, and are kept for
/// the next who asks: first touching a page costs more than reducing it.
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

/// Does the work with the core at hand.
void perform_here(const Work& work);

}  // namespace tutti::real
