#pragma once

#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/verify.h"
#include "real/transport/devices.h"

namespace tutti::real {

/// Returns the operation of a reduction's steps: a mean is a sum that is then divided.
Operation operation_of(core::Reduction reduction);

/// Returns the inputs and the expected results of a collective of the scenario. `key` identifies
/// the collective within the run.
Reduced reduced_of(core::Reduction reduction, const core::Collective& collective,
                   std::uint64_t key);

/// True if the CPU of a worker holds data of the pack, because it serves the pack's variables or
/// data is sent to a server.
bool host_holds_data(const core::Collective& collective, core::Rank host);

/// The packs' buffers on the replicas of one worker, and on its CPU if variables lie there: one set
/// for each step of a batch.
class Gradients {
 public:
  /// `host`: the rank of the worker's CPU. REQUIRES: scenario and devices outlive the gradients.
  Gradients(const core::Scenario& scenario, std::vector<core::Rank> replicas, core::Rank host,
            Devices& devices)
      : scenario_(scenario), replicas_(std::move(replicas)), host_(host), devices_(devices) {}

  /// Returns the bytes of one set on one replica.
  static core::Bytes bytes_of(const core::Scenario& scenario);

  /// Fills the buffers with the inputs of steps first … first + count - 1.
  void fill(std::int32_t first, std::int32_t count);
  /// Returns a buffer. `replica` is the index of one of this worker's replicas, or the number of
  /// them for the CPU; null if the CPU holds nothing. REQUIRES: `step` is one of the steps of
  /// fill().
  [[nodiscard]] std::byte* data(std::int32_t step, std::size_t pack, std::size_t replica) const {
    if (gives_back(pack, replica))
      return data(step, static_cast<std::size_t>(scenario_.plan.packs[pack].answers), replica);
    const std::vector<Devices::Memory>& buffers =
        sets_[static_cast<std::size_t>(step - first_)][pack];
    return replica < buffers.size() ? buffers[replica].get() : nullptr;
  }
  /// Checks every element of a step. ERRORS: the first wrong element, with rank, pack, element and
  /// both values.
  [[nodiscard]] core::Expected<void> verify(std::int32_t step) const;

 private:
  /// True if the CPU serves a pull: it sends the buffer of the push that the pack answers.
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
