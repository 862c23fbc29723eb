#pragma once

#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/verify.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// The operation of a reduction's steps: a mean is a sum that is then divided.
Operation operation_of(core::Reduction reduction);

/// What a collective of the scenario's kind is given and must come to. `key`: of this one among all of the run.
Reduced reduced_of(core::Reduction reduction, const core::Collective& collective, std::uint64_t key);

/// A worker's CPU holds data of the pack, as a server of its variables or on the way to one.
bool host_holds_data(const core::Collective& collective, core::Rank host);

/// The packs' buffers on the replicas of one worker, and on its CPU if variables lie there, a set for each of the steps that are
/// under way together.
class Gradients {
 public:
  /// `host`: the rank of the worker's CPU. REQUIRES: scenario and devices outlive the gradients.
  Gradients(const core::Scenario& scenario, std::vector<core::Rank> replicas, core::Rank host, Devices& devices)
      : scenario_(scenario), replicas_(std::move(replicas)), host_(host), devices_(devices) {}

  /// Bytes of one set on one replica.
  static core::Bytes bytes_of(const core::Scenario& scenario);

  /// Fills the buffers with the inputs of steps first … first + count - 1.
  void fill(std::int32_t first, std::int32_t count);
  /// REQUIRES: `step` is one of those, `replica` counts those of this worker; the CPU comes behind them, null if it holds nothing.
  [[nodiscard]] std::byte* data(std::int32_t step, std::size_t pack, std::size_t replica) const {
    if (gives_back(pack, replica))
      return data(step, static_cast<std::size_t>(scenario_.plan.packs[pack].answers), replica);
    const std::vector<Devices::Memory>& buffers = sets_[static_cast<std::size_t>(step - first_)][pack];
    return replica < buffers.size() ? buffers[replica].get() : nullptr;
  }
  /// Compares every element of a step. ERRORS: the first that is wrong, with rank, pack, element, both values.
  [[nodiscard]] core::Expected<void> verify(std::int32_t step) const;

 private:
  /// The CPU is where the pack comes from that answers another: it gives what it has of that one.
  [[nodiscard]] bool gives_back(std::size_t pack, std::size_t replica) const {
    const core::Pack& p = scenario_.plan.packs[pack];
    return p.answers >= 0 && replica == replicas_.size() && scenario_.plan.collective(p).root == host_;
  }
  /// Ranks here that hold data of the pack.
  [[nodiscard]] std::vector<core::Rank> holders(std::size_t pack) const;
  [[nodiscard]] Reduced reduced(std::int32_t step, std::size_t pack) const;
  void fill(const Reduced& reduced, const core::Contract& contract, core::Rank rank, std::byte* buffer);
  [[nodiscard]] std::optional<WrongElement> find_wrong(std::int32_t step, std::size_t pack) const;

  const core::Scenario& scenario_;
  std::vector<core::Rank> replicas_;
  core::Rank host_;
  Devices& devices_;
  std::int32_t first_ = 0;
  std::vector<std::vector<std::vector<Devices::Memory>>> sets_;  ///< [step - first_][pack][replica]
};

}  // namespace tutti::real
