#pragma once

#include <cstdint>
#include <string>

#include "core/nccl/system.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/tuning/choice.h"
#include "core/schedule/contract.h"

namespace tutti::core::nccl {

/// The predicted time of a collective in us, as the sum of launch, hops, fill and transfer.
struct Prediction {
  /// The time of the kernel launch, plus the CPU time that is part of the times measured by
  /// nccl-tests.
  double launch = 0;
  double hops = 0;             ///< total latency of consecutive hops
  double fill = 0;             ///< time in which the first data passes through the pipeline
  double transfer = 0;         ///< time in which the bottleneck transfers all data
  const char* narrowest = "";  ///< name of the bottleneck

  /// The load of a resource: the bytes that pass through it, and the time that they take if no
  /// other resource limits them.
  struct Over {
    double us = 0;
    double bytes = 0;
  };
  Over links;  ///< traffic that leaves a GPU over NVLink, or over PCIe if there is no NVLink
  Over cards;  ///< traffic that leaves a node over its network cards
  /// The number of bytes on `links` that come from or go to another node (PXN).
  double relayed = 0;
  double overlap = 0;   ///< the part of `hops` during which data is already transferred
  double channels = 1;  ///< number of thread blocks per GPU

  /// The name of a link that cannot transfer its bytes in the time that the model computes; the
  /// prediction is then the time that this link needs. The name is empty if all links can transfer
  /// their bytes in this time, which is usually the case.
  std::string capped_at;

  [[nodiscard]] double us() const { return launch + hops + fill + transfer; }
};

/// Predicts the time of a collective with the given choice. The model (prediction.cpp) follows the
/// data through NCCL's channels and links. NCCL's own estimate is not used.
/// REQUIRES: at least two ranks.
Prediction predict(const System& system, const Communicator& communicator,
                   const Operation& operation, const Choice& choice, const Parameters& parameters);

/// Predicts the time of a collective that NCCL implements with sends and receives: all-to-all,
/// gather, scatter or send-receive. `bytes` is the size that nccl-tests reports for the collective.
/// REQUIRES: NCCL implements `kind` with sends and receives; there are at least two ranks.
Prediction predict_sends(const System& system, const Communicator& communicator,
                         CollectiveKind kind, std::int64_t bytes, const Parameters& parameters);

}  // namespace tutti::core::nccl
