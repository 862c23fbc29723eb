#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Parses a release of aws-ofi-nccl: "1.16.3", "v1.7.4-aws" or "1.14". ERRORS: the text has another
/// form, or the release is older than 1.2, whose behaviour is not modelled.
Expected<Version> parse_ofi_plugin(std::string_view written);
/// Returns the release of aws-ofi-nccl that was current when this release of NCCL was published,
/// but at least the first release that supports this generation of EFA fully. REQUIRES:
/// is_efa(transport).
Version usual_ofi_plugin(Version nccl, Transport transport);

/// The behaviour of a release of aws-ofi-nccl on EFA.
struct OfiPluginBehaviour {
  double latency_us = 0;       ///< latency that the plugin reports to NCCL
  bool only_simple = false;    ///< true if the plugin sets NCCL_PROTO=Simple
  bool merges = false;         ///< true if NCCL sees the EFA devices of a GPU as one card
  bool large_buffers = false;  ///< true if the plugin sets NCCL_BUFFSIZE to 8 MiB
  bool no_nvls = false;        ///< true if the plugin sets NCCL_NVLS_ENABLE=0
  bool no_flush = false;       ///< true if the plugin sets NCCL_NET_FORCE_FLUSH=0
};
/// REQUIRES: is_efa(transport).
OfiPluginBehaviour behaviour_of(Version plugin, Transport transport, GpuGeneration gpus,
                                Version nccl);

/// Changes `system` so that it describes the network cards as NCCL sees them. Called once for each
/// system. If neither NCCL nor its plugin merges the devices of a card, each device becomes a card.
/// On EFA, also sets the latency that the plugin reports and, in `settings`, the variables that the
/// plugin sets, unless the user has set them. Adds notes for the user on these variables. Has no
/// effect on a single node.
void see_network(System& system, Version nccl, Settings& settings);

}  // namespace tutti::core::nccl
