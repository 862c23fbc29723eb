#pragma once

#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/verify.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// Returns the operation that the schedule steps of a reduction apply. To compute a mean, the steps
/// compute a sum, which is divided at the end.
Operation operation_of(core::Reduction reduction);

/// Returns the inputs and the expected results of a collective. `key` identifies the collective
/// within the run.
Reduced reduced_of(core::Reduction reduction, const core::Collective& collective,
                   std::uint64_t key);

/// Returns true if the CPU with rank `host` has its own data in the collective, because the CPU
/// stores the pack's variables or sends data to a server.
bool host_holds_data(const core::Collective& collective, core::Rank host);

/// The buffers for the packs on one worker: on its replicas, and on its CPU if the CPU stores
/// variables. Every training step of a batch (WorkerRun) has its own buffers.
class Gradients {
 public:
  /// `host`: the rank of the worker's CPU. REQUIRES: scenario and devices outlive this object.
  Gradients(const core::Scenario& scenario, std::vector<core::Rank> replicas, core::Rank host,
            Devices& devices)
      : scenario_(scenario), replicas_(std::move(replicas)), host_(host), devices_(devices) {}

  /// Returns the size in bytes of the buffers that one replica needs for one training step.
  static core::Bytes bytes_of(const core::Scenario& scenario);

  /// Fills the buffers with the inputs of the training steps first … first + count - 1.
  void fill(std::int32_t first, std::int32_t count);
  /// Returns the buffer of a pack. `replica`: an index among this worker's replicas; the index
  /// after the last replica stands for the CPU. Returns null if the CPU has no buffer.
  /// REQUIRES: fill() has filled `step`.
  [[nodiscard]] std::byte* data(std::int32_t step, std::size_t pack, std::size_t replica) const {
    if (gives_back(pack, replica))
      return data(step, static_cast<std::size_t>(scenario_.plan.packs[pack].answers), replica);
    const std::vector<Devices::Memory>& buffers = sets_[step - first_][pack];
    return replica < buffers.size() ? buffers[replica].get() : nullptr;
  }
  /// Checks every element of the results of a training step. ERRORS: an element is wrong. The error
  /// names the rank, the pack, the index, the actual value and the expected value of the first
  /// wrong element.
  [[nodiscard]] core::Expected<void> verify(std::int32_t step) const;

 private:
  /// Returns true if `replica` denotes the CPU, and the pack is a pull from this CPU. A pull from
  /// this worker's own CPU has no buffer of its own, and uses the buffer of the corresponding push.
  [[nodiscard]] bool gives_back(std::size_t pack, std::size_t replica) const {
    const core::Pack& p = scenario_.plan.packs[pack];
    return p.answers >= 0 && replica == replicas_.size() &&
           scenario_.plan.collective(p).root == host_;
  }
  /// Returns the ranks of this process that hold data of the pack.
  [[nodiscard]] std::vector<core::Rank> holders(std::size_t pack) const;
  [[nodiscard]] Reduced reduced(std::int32_t step, std::size_t pack) const;
  void fill(const Reduced& reduced, const core::Contract& contract, core::Rank rank,
            std::byte* buffer);
  [[nodiscard]] std::optional<WrongElement> find_wrong(std::int32_t step, std::size_t pack) const;

  const core::Scenario& scenario_;
  std::vector<core::Rank> replicas_;
  core::Rank host_;
  Devices& devices_;
  std::int32_t first_ = 0;
  /// Indexed by [step - first_][pack][replica].
  std::vector<std::vector<std::vector<Devices::Memory>>> sets_;
};

}  // namespace tutti::real
