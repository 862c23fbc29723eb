#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/settings.h"

namespace tutti::core::nccl {

/// The entry of NCCL's cost model for a collective with an algorithm and a protocol.
struct Entry {
  float latency_us = 0;
  float bandwidth = 0;        ///< GB/s (1e9) of the collective's bytes; 0: excluded from the choice
  const char* off = nullptr;  ///< reason for the exclusion
  float without_preferences = 0;  ///< bandwidth if the user had not disabled the algorithm
};

/// NCCL's cost model of a communicator, computed once, when the communicator is created. NCCL uses
/// these estimates to choose, not to predict: measurements are 0.7 to 3.3 times them.
struct Model {
  std::array<std::array<std::array<Entry, kProtocols>, kAlgorithms>, kFunctions> entries;
  std::array<std::array<int, kProtocols>, kAlgorithms> most_threads{};
  /// The number of bytes per thread and channel below which NCCL uses fewer of them.
  std::array<std::array<std::int64_t, kProtocols>, kAlgorithms> thread_thresholds{};
  std::shared_ptr<const Tuner> tuner;  ///< decides before the cost model does; null: none
  bool registered = false;             ///< buffers are registered
  /// Buffers are windows of symmetric memory, and NCCL may use them as such.
  bool symmetric = false;
  CtaPolicy cta_policy = CtaPolicy::kDefault;
  std::optional<std::string> symmetric_kernel;  ///< the only symmetric kernel allowed
  int symmetric_blocks = 0;  ///< thread blocks of symmetric kernels; 0: NCCL decides

  [[nodiscard]] const Entry& entry(Function f, Algorithm a, Protocol p) const {
    return entries[static_cast<std::size_t>(f)][static_cast<std::size_t>(a)]
                  [static_cast<std::size_t>(p)];
  }
};

/// Computed in single precision and in NCCL's order of operations, because ties depend on it.
/// REQUIRES: at least two ranks, channels counted. SOURCE: NVIDIA/nccl src/graph/tuning.cc,
/// ncclTopoTuneModel, at the tags of 2.6.4 to 2.30.7.
Model tune(const Communicator& communicator, const Settings& settings);

}  // namespace tutti::core::nccl
