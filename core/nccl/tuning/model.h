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

/// NCCL's estimate for a collective with a certain algorithm and protocol.
struct Entry {
  float latency_us = 0;
  float bandwidth = 0;  ///< algorithm bandwidth in GB/s (1e9): the size of a collective divided by
                        ///< its time; 0: the entry cannot be chosen
  const char* off = nullptr;      ///< reason why the entry cannot be chosen; null: the entry can be
                                  ///< chosen
  float without_preferences = 0;  ///< bandwidth that the entry would have without the user's
                                  ///< preferences
};

/// The cost model that NCCL computes when it creates a communicator. NCCL uses the model's
/// estimates to choose an algorithm, not to predict times. Measured times are 0.7 to 3.3 times as
/// long as the estimates.
struct Model {
  std::array<std::array<std::array<Entry, kProtocols>, kAlgorithms>, kFunctions> entries;
  std::array<std::array<int, kProtocols>, kAlgorithms> max_threads{};
  /// The number of bytes per thread and channel below which NCCL uses fewer threads and channels.
  std::array<std::array<std::int64_t, kProtocols>, kAlgorithms> thread_thresholds{};
  /// The tuner plugin, whose choices take precedence over the cost model; null: none.
  std::shared_ptr<const Tuner> tuner;
  bool registered = false;  ///< true if the buffers of collectives are registered with NCCL
  /// True if buffers are windows of symmetric memory and NCCL may use symmetric kernels for these
  /// buffers.
  bool symmetric = false;
  CtaPolicy cta_policy = CtaPolicy::kDefault;
  /// The only symmetric kernel that NCCL may use; nullopt: any.
  std::optional<std::string> symmetric_kernel;
  int symmetric_blocks = 0;  ///< number of thread blocks of symmetric kernels; 0: NCCL decides

  [[nodiscard]] const Entry& entry(Function f, Algorithm a, Protocol p) const {
    return entries[static_cast<std::size_t>(f)][static_cast<std::size_t>(a)]
                  [static_cast<std::size_t>(p)];
  }
};

/// Computes the cost model in single precision and in NCCL's order of operations, because rounding
/// determines which candidates have exactly equal times. REQUIRES: at least two ranks; the number
/// of channels is set. SOURCE: NVIDIA/nccl src/graph/tuning.cc, ncclTopoTuneModel, at the tags of
/// 2.6.4 to 2.30.7.
Model tune(const Communicator& communicator, const Settings& settings);

}  // namespace tutti::core::nccl
