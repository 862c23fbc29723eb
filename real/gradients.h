#pragma once

#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/devices.h"
#include "real/verify.h"

namespace tutti::real {

/// The operation of a reduction's steps: a mean is a sum that is then divided.
Operation operation_of(core::Reduction reduction);

/// What a collective of the scenario's kind is given and must come to. `key`: of this one among all of the run.
Reduced reduced_of(const core::Scenario& scenario, const core::Collective& collective, std::uint64_t key);

/// The packs' buffers on the replicas of one worker, a set for each of the steps that are under way together.
class Gradients {
 public:
  /// REQUIRES: scenario and devices outlive the gradients.
  Gradients(const core::Scenario& scenario, std::vector<core::Rank> replicas, Devices& devices)
      : scenario_(scenario), replicas_(std::move(replicas)), devices_(devices) {}

  /// Bytes of one set on one replica.
  static core::Bytes bytes_of(const core::Scenario& scenario);

  /// Fills the buffers with the inputs of steps first … first + count - 1.
  void fill(std::int32_t first, std::int32_t count);
  /// REQUIRES: `step` is one of those, `replica` counts those of this worker.
  [[nodiscard]] std::byte* data(std::int32_t step, std::size_t pack, std::size_t replica) const {
    return sets_[static_cast<std::size_t>(step - first_)][pack][replica].get();
  }
  /// Compares every element of a step. ERRORS: the first that is wrong, with rank, pack, element, both values.
  [[nodiscard]] core::Expected<void> verify(std::int32_t step) const;

 private:
  [[nodiscard]] Reduced reduced(std::int32_t step, std::size_t pack) const;
  void fill(const Reduced& reduced, const core::Contract& contract, core::Rank rank, std::byte* buffer);
  [[nodiscard]] std::optional<WrongElement> find_wrong(std::int32_t step, std::size_t pack) const;

  const core::Scenario& scenario_;
  std::vector<core::Rank> replicas_;
  Devices& devices_;
  std::int32_t first_ = 0;
  std::vector<std::vector<std::vector<Devices::Memory>>> sets_;  ///< [step - first_][pack][replica]
};

}  // namespace tutti::real
