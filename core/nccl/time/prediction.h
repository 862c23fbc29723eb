#pragma once

#include <cstdint>
#include <string>

#include "core/nccl/system.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/tuning/choice.h"
#include "core/schedule/contract.h"

namespace tutti::core::nccl {

/// The predicted time of a collective in us, as a sum of parts.
struct Prediction {
  /// The kernel launch, plus the CPU's time to issue it as measured by nccl-tests.
  double launch = 0;
  double hops = 0;             ///< latency of consecutive hops
  double fill = 0;             ///< time until the first data has passed through the pipeline
  double transfer = 0;         ///< time of all data on the bottleneck resource
  const char* narrowest = "";  ///< name of the bottleneck resource

  /// The time of all bytes over one resource if nothing else limits it, and their number.
  struct Over {
    double us = 0;
    double bytes = 0;
  };
  Over links;  ///< traffic out of a GPU over NVLink, or over PCIe without NVLink
  Over cards;  ///< traffic out of a node over its network cards
  /// The bytes over `links` that are on their way to or from another node (PXN).
  double relayed = 0;
  double overlap = 0;   ///< the part of `hops` that overlaps with the transfer
  double channels = 1;  ///< thread blocks per GPU

  /// The link that could not carry its bytes in the predicted time, which was raised to what the
  /// link needs. Empty, as it should be, if the predicted time was possible.
  std::string capped_at;

  [[nodiscard]] double us() const { return launch + hops + fill + transfer; }
};

/// Predicts the time of the choice on the system by mechanisms (prediction.cpp), not by NCCL's
/// estimate.
/// REQUIRES: at least two ranks.
Prediction predict(const System& system, const Communicator& communicator,
                   const Operation& operation, const Choice& choice, const Parameters& parameters);

/// Predicts collectives that NCCL implements with sends and receives: all-to-all, gather, scatter,
/// send-receive. `bytes` are counted as in nccl-tests. REQUIRES: one of these collectives; at least
/// two ranks.
Prediction predict_sends(const System& system, const Communicator& communicator,
                         CollectiveKind kind, std::int64_t bytes, const Parameters& parameters);

}  // namespace tutti::core::nccl
