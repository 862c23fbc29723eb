#include "core/nccl/collnet.h"

#include <fmt/format.h>

#include "core/nccl/known_gpus.h"

namespace tutti::core::nccl {

std::string why_no_sharp(const System& system) {
  constexpr double kHdr = 25;  // 200 Gb/s
  if (system.nodes < 2) return "there is one node";
  if (system.transport != Transport::kInfiniband)
    return fmt::format("only InfiniBand switches can reduce (SHARP), but the network is {}",
                       to_string(system.transport));
  if (system.nic_gb_per_s < kHdr)
    return fmt::format(
        "SHARP's streaming aggregation needs HDR or faster (25 GB/s), but the cards have {:g} GB/s",
        system.nic_gb_per_s);
  return "";
}

bool collnet_is_on(const Communicator& comm, const Settings& settings) {
  constexpr int kMaxGpusOfNode = 8;
  if (!settings.collnet.value_or(false) || comm.graphs.collnet_chain.channels == 0) return false;
  if (comm.version < Version{2, 23, 0} && comm.version >= Version{2, 14, 0} &&
      comm.ranks_of_node() > kMaxGpusOfNode)
    return false;
  return comm.nodes > 1 && comm.nodes >= settings.collnet_nodes.value_or(2);
}

}  // namespace tutti::core::nccl
