#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/names.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

class Tuner;

/// The kind of buffers that the program passes to collectives: plain or registered with NCCL.
enum class Buffers {
  kPlain,
  kRegistered,  ///< registered by ncclCommRegister or by a CUDA graph
  kSymmetric    ///< registered as windows of symmetric memory (2.27 and later)
};

/// The values of NCCL_CTA_POLICY (2.27 and later).
enum class CtaPolicy { kDefault, kEfficiency, kZero };

/// The user's setting for an algorithm or a protocol: not mentioned (kNone), allowed (kYes) or
/// excluded (kNo).
enum class Preference { kNone, kYes, kNo };

/// Two releases: the first that supports NCCL_NET_DISABLE_INTRA, and the first in which two GPUs of
/// a machine communicate over the network if the network is faster than the links between them.
/// SOURCE: NVIDIA/nccl src/transport/net.cc, src/graph/paths.cc.
inline constexpr Version kNetDisableIntra{2, 12, 7};
inline constexpr Version kNetInPaths{2, 14, 3};

/// Two releases: the first with symmetric kernels, and the first with collectives that copy engines
/// execute.
inline constexpr Version kSymmetricKernels{2, 27, 3};
inline constexpr Version kCopyEngines{2, 28, 3};

/// The environment variables that affect NCCL's choice. nullopt: the variable is not set.
struct Settings {
  std::array<std::array<Preference, kAlgorithms>, kFunctions> algorithms{};  ///< NCCL_ALGO
  std::array<std::array<Preference, kProtocols>, kFunctions> protocols{};    ///< NCCL_PROTO
  std::optional<std::int64_t> min_channels;                                  ///< NCCL_MIN_NCHANNELS
  std::optional<std::int64_t> max_channels;                                  ///< NCCL_MAX_NCHANNELS
  std::optional<std::int64_t> threads;             ///< NCCL_NTHREADS, after NCCL's corrections
  std::optional<std::int64_t> ll128_threads;       ///< NCCL_LL128_NTHREADS, after NCCL's
                                                   ///< corrections
  std::optional<std::int64_t> buffer_bytes;        ///< NCCL_BUFFSIZE
  std::optional<std::int64_t> ll_buffer_bytes;     ///< NCCL_LL_BUFFSIZE
  std::optional<std::int64_t> ll128_buffer_bytes;  ///< NCCL_LL128_BUFFSIZE
  std::optional<std::int64_t> nvls_channels;       ///< NCCL_NVLS_NCHANNELS
  std::optional<std::int64_t> net_overhead_ns;     ///< NCCL_NET_OVERHEAD
  /// The values of NCCL_THREAD_THRESHOLDS. NCCL ignores negative values.
  std::array<std::int64_t, 6> thread_thresholds{-2, -2, -2, -2, -2, -2};
  std::optional<bool> nvls;     ///< NCCL_NVLS_ENABLE; nullopt for 2, the default
  std::optional<bool> pat;      ///< NCCL_PAT_ENABLE; nullopt for 2, the default
  std::optional<bool> collnet;  ///< NCCL_COLLNET_ENABLE
  /// NCCL_COLLNET_NODE_THRESHOLD: the minimum number of nodes with which CollNet is used.
  std::optional<std::int64_t> collnet_nodes;
  std::optional<bool> ll128_c2c;               ///< NCCL_LL128_C2C
  std::optional<bool> p2p_disabled;            ///< NCCL_P2P_DISABLE
  std::optional<bool> shm_disabled;            ///< NCCL_SHM_DISABLE
  std::optional<bool> pxn_disabled;            ///< NCCL_PXN_DISABLE
  std::optional<bool> ib_disabled;             ///< NCCL_IB_DISABLE: if true, NCCL uses sockets
                                               ///< instead of verbs
  std::optional<bool> net_intra_disabled;      ///< NCCL_NET_DISABLE_INTRA, in releases that support
                                               ///< it
  std::optional<std::int64_t> socket_threads;  ///< NCCL_SOCKET_NTHREADS
  std::optional<std::int64_t> sockets_per_thread;  ///< NCCL_NSOCKS_PERTHREAD
  std::optional<std::int64_t> cross_nic;           ///< NCCL_CROSS_NIC
  std::optional<std::string> gdr_level;            ///< NCCL_NET_GDR_LEVEL, as written
  CtaPolicy cta_policy = CtaPolicy::kDefault;      ///< NCCL_CTA_POLICY, in releases that support it
  std::optional<std::string> symmetric_kernel;     ///< NCCL_SYM_KERNEL
  std::optional<std::int64_t> symmetric_blocks;    ///< NCCL_SYM_CTAS
  std::optional<bool> windows;                     ///< NCCL_WIN_ENABLE
  /// The tuner plugin and the kind of buffers are not environment variables, but NCCL's choice
  /// depends on these two fields too.
  std::shared_ptr<const Tuner> tuner;  ///< tuner plugin that NCCL has loaded; null: none
  Buffers buffers = Buffers::kPlain;
  /// Notes for the user on values that NCCL replaces by others.
  std::vector<std::string> notes;

  /// Returns the names of the variables that are set and that affect the graphs of NCCL's search.
  [[nodiscard]] std::vector<std::string> of_the_search() const;
};

/// Interprets environment variables, given as pairs of name and value, as NCCL `version` does.
/// Names of variables that do not affect the model are added to `unknown`; if `unknown` is null,
/// they are errors. ERRORS: NCCL does not accept a value; the error lists the accepted values.
Expected<Settings> read_settings(const std::vector<std::pair<std::string, std::string>>& variables,
                                 Version version, std::vector<std::string>* unknown = nullptr);

}  // namespace tutti::core::nccl
