#pragma once

#include <cstdint>
#include <string>

#include "core/nccl/system.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/tuning/choice.h"
#include "core/schedule/contract.h"

namespace tutti::core::nccl {

/// How long a collective takes, and of what that consists: the parts are added. us.
struct Prediction {
  /// The kernel, and what its CPU takes to issue it beyond that, as nccl-tests sees it.
  double launch = 0;
  double hops = 0;             ///< latency of the hops that stand in a row
  double fill = 0;             ///< until the first data has come through the pipeline
  double transfer = 0;         ///< all data by the narrowest of what it goes through
  const char* narrowest = "";  ///< … in words

  /// What all its data takes over something if nothing else limits it, and how much that is.
  struct Over {
    double us = 0;
    double bytes = 0;
  };
  Over links;  ///< out of a GPU over NVLink, or PCIe where that is what joins GPUs
  Over cards;  ///< out of a node over its network cards
  double relayed =
      0;  ///< of the bytes over `links`, those on their way to or from another node (PXN)
  double overlap = 0;   ///< of `hops`, what goes on while data moves
  double channels = 1;  ///< thread blocks of a GPU

  /// The link that could not carry its bytes in the time that the parts came to, which was raised
  /// to what it needs. Empty, as it should be: the time was possible.
  std::string capped_at;

  [[nodiscard]] double us() const { return launch + hops + fill + transfer; }
};

/// What the choice takes on the system, by mechanisms (prediction.cpp) and not by NCCL's estimate.
/// REQUIRES: at least two ranks.
Prediction predict(const System& system, const Communicator& communicator,
                   const Operation& operation, const Choice& choice, const Parameters& parameters);

/// What NCCL makes of sends and receives: all-to-all, gather, scatter, send-receive. `bytes`: as
/// nccl-tests counts them. REQUIRES: one of these; at least two ranks.
Prediction predict_sends(const System& system, const Communicator& communicator,
                         CollectiveKind kind, std::int64_t bytes, const Parameters& parameters);

}  // namespace tutti::core::nccl
