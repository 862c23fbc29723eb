#include "core/nccl/channels.h"

#include <algorithm>

namespace tutti::core::nccl {
namespace {

int max_channels(Version version) { return version >= Version{2, 25, 0} ? 64 : 32; }

/// True if NCCL doubles the number of channels, because the network cards of a rail are fast.
bool doubled(const Communicator& c, int channels) {
  if (c.nodes < 2 || !(c.graphs.ring.bw_intra > 45.0F)) return false;
  if (c.version >= Version{2, 25, 0}) return c.compute_capability >= 90 && channels < 16;
  if (c.compute_capability != 90 || c.version < Version{2, 18, 1}) return false;
  return c.version >= Version{2, 21, 0} ? channels < 16 : 2 * channels <= max_channels(c.version);
}

int nvls_blocks(const Communicator& c, const Settings& settings) {
  if (!c.nvls || settings.nvls == false || c.graphs.nvls.channels == 0) return 0;
  if (settings.nvls_channels)
    return static_cast<int>(std::min<std::int64_t>(*settings.nvls_channels, 64));
  if (c.compute_capability < 100 || c.version < Version{2, 25, 0}) return 16;
  return c.nodes == 1 && c.version >= Version{2, 27, 0} ? 24 : 32;
}

}  // namespace

void count_channels(Communicator& c, const Settings& settings) {
  const int most = max_channels(c.version);
  int channels = std::min(most, 2 * std::min(c.graphs.ring.channels, c.graphs.tree.channels));
  const Graph& chain = c.graphs.collnet_chain;
  if (c.collnet && chain.bw_intra > chain.bw_inter && c.ranks > c.nodes)
    channels = std::min(most, channels + channels / 2);
  if (doubled(c, channels)) channels *= 2;
  channels =
      static_cast<int>(std::min<std::int64_t>(channels, settings.max_channels.value_or(most)));
  const std::int64_t least = std::min<std::int64_t>(settings.min_channels.value_or(0), most);
  c.channels = static_cast<int>(std::max<std::int64_t>(channels, least));
  c.nvls_channels = nvls_blocks(c, settings);
  // Up to 2.18, buffers are smaller on ARM CPUs.
  // SOURCE: NVIDIA/nccl v2.18.6 src/init.cc, computeBuffSizes.
  const auto [ll, ll128, simple] = kOwnBuffers;
  const std::int64_t own =
      c.cpu == HostCpu::kArm && c.version < Version{2, 19, 0} ? 1048576 : simple;
  c.buffer_bytes = {settings.ll_buffer_bytes.value_or(ll),
                    settings.ll128_buffer_bytes.value_or(ll128),
                    settings.buffer_bytes.value_or(own)};
}

}  // namespace tutti::core::nccl
