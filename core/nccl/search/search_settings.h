#pragma once

#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/search/graph.h"

namespace tutti::core::nccl {

/// NCCL's MAXCHANNELS: the maximum number of channels for any algorithm.
inline constexpr int kMaxChannels = 64;

/// The network cards that a GPU may use (NCCL_NETDEVS_POLICY).
enum class NetPolicy {
  kAuto,  ///< the nearest network cards, divided equally among the GPUs that are near to them
  kAll,   ///< all nearest network cards
  kMax    ///< at most `max_nets` of the nearest network cards
};

/// The settings of NCCL's search, most of which are environment variables. The defaults are NCCL's.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/paths.cc, search.cc, topo.cc.
struct SearchSettings {
  std::optional<PathType> p2p_level;  ///< NCCL_P2P_LEVEL; kLoc if NCCL_P2P_DISABLE=1
  std::optional<PathType> gdr_level;  ///< NCCL_NET_GDR_LEVEL
  bool gdr_c2c = true;                ///< NCCL_NET_GDR_C2C
  bool shm = true;                    ///< false if NCCL_SHM_DISABLE=1
  bool nvb = true;                    ///< false if NCCL_NVB_DISABLE=1
  bool pxn = true;                    ///< false if NCCL_PXN_DISABLE=1
  bool pxn_c2c = true;                ///< NCCL_PXN_C2C
  bool net_inside = true;             ///< false if NCCL_NET_DISABLE_INTRA=1
  bool nvls = true;                   ///< NCCL_NVLS_ENABLE
  bool collnet = false;               ///< NCCL_COLLNET_ENABLE
  bool scatter_nets = true;           ///< NCCL_MNNVL_SCATTER_NETS_ENABLE
  int cross_nic = 2;                  ///< NCCL_CROSS_NIC
  NetPolicy net_policy = NetPolicy::kAuto;
  int max_nets = 0;  ///< maximum number of cards for NetPolicy::kMax
};

/// Returns NCCL's name of a path type: "NVL", "PIX", ….
std::string_view to_string(PathType type);
std::optional<PathType> path_type(std::string_view name);

/// Sets the value of the environment variable `name`.
/// ERRORS: the search does not use this variable; the value is invalid.
Expected<void> set(SearchSettings& settings, std::string_view name, std::string_view value);

}  // namespace tutti::core::nccl
