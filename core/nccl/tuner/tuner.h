#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/constants.h"

namespace tutti::core::nccl {

/// A tuner plugin that NCCL has loaded: it sees NCCL's estimates for a call, and decides before
/// NCCL compares them. Immutable.
class Tuner {
 public:
  /// The values that the plugin sets; NCCL chooses the others.
  struct Pick {
    std::optional<std::pair<Algorithm, Protocol>> cell;
    std::optional<int> channels;
  };

  Tuner() = default;
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;
  virtual ~Tuner() = default;

  /// `all`: NCCL's candidates; those that are off cannot be chosen. `registered`: both buffers are
  /// registered.
  [[nodiscard]] virtual Pick pick(const Communicator& communicator, const Operation& operation,
                                  const std::vector<Candidate>& all, bool registered) const = 0;
  /// Returns the sizes at which pick() may change. Between two neighbouring ones it changes at most
  /// once.
  [[nodiscard]] virtual std::vector<std::int64_t> boundaries(const Communicator& communicator,
                                                             Function function) const = 0;
  /// Rewrites the figures of NCCL's cost model, as plugins may since 2.28.
  virtual void rewrite(const Communicator& /*communicator*/, Constants& /*constants*/) const {}
  /// "the region tables of aws-ofi-nccl for p5.48xlarge"
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns why the plugin decides nothing in this communicator; empty if it may decide.
  [[nodiscard]] virtual std::string why_not(const Communicator& communicator) const = 0;
};

/// The candidate of a cell; null if it cannot be taken.
const Candidate* possible(const std::vector<Candidate>& all, Algorithm algorithm,
                          Protocol protocol);

}  // namespace tutti::core::nccl
