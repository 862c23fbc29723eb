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

/// A tuner plugin that NCCL has loaded. The plugin receives NCCL's estimates for a call, and may
/// make a choice before NCCL compares the estimates. Tuners are immutable.
class Tuner {
 public:
  /// The values that the plugin chooses. If a value is nullopt, NCCL chooses it.
  struct Pick {
    std::optional<std::pair<Algorithm, Protocol>> cell;
    std::optional<int> channels;
  };

  Tuner() = default;
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;
  virtual ~Tuner() = default;

  /// Returns the plugin's choice for a call. `all` contains NCCL's candidates. The plugin cannot
  /// choose a candidate for which Candidate::off is set. `registered` is true if both buffers are
  /// registered.
  [[nodiscard]] virtual Pick pick(const Communicator& communicator, const Operation& operation,
                                  const std::vector<Candidate>& all, bool registered) const = 0;
  /// Returns sizes in bytes, in any order, that divide all sizes into intervals. Inside each
  /// interval, the result of pick() changes at most once.
  [[nodiscard]] virtual std::vector<std::int64_t> boundaries(const Communicator& communicator,
                                                             Function function) const = 0;
  /// Changes the constants of NCCL's cost model, as plugins can since NCCL 2.28.
  virtual void rewrite(const Communicator& /*communicator*/, Constants& /*constants*/) const {}
  /// Returns a phrase that names the tuner in notes to the user, such as "NVIDIA's example tuner
  /// with FILE".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns the reason why the plugin never makes a choice in this communicator; "" if the plugin
  /// may make a choice.
  [[nodiscard]] virtual std::string why_not(const Communicator& communicator) const = 0;
};

/// Returns the candidate with this algorithm and protocol; null if the candidate cannot be chosen.
const Candidate* possible(const std::vector<Candidate>& all, Algorithm algorithm,
                          Protocol protocol);

}  // namespace tutti::core::nccl
