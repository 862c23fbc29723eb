#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// The network transport between machines. NCCL's cost model has parameters for each transport. The
/// values equal those of the enum `Transport` in core/proto/machine.proto.
enum class Transport {
  kNone,  ///< unspecified, or not needed
  kInfiniband,
  kRoce,
  kEfa,        ///< EFA with RDMA, whose generation is unspecified
  kEfaCopies,  ///< EFA without RDMA
  kSlingshot,
  kTcpx,
  kTcpxo,
  kTcp,
  kEfaV1,  ///< EFA with RDMA of the first generation (P4d); kEfaV2 to kEfaV4 are the generations of
           ///< P5, P5en and P6
  kEfaV2,
  kEfaV3,
  kEfaV4
};

/// True for EFA with RDMA of any generation.
constexpr bool is_efa_with_rdma(Transport transport) {
  return transport == Transport::kEfa ||
         (transport >= Transport::kEfaV1 && transport <= Transport::kEfaV4);
}
/// True for EFA of any generation, with or without RDMA.
constexpr bool is_efa(Transport transport) {
  return transport == Transport::kEfaCopies || is_efa_with_rdma(transport);
}

/// Returns the transport's name in command-line options, such as "infiniband" or
/// "efa_without_rdma".
std::string_view to_string(Transport transport);
std::optional<Transport> parse_transport(std::string_view name);
/// Returns the transport's name in files, such as "INFINIBAND" or "EFA_WITHOUT_RDMA".
std::string name_in_files(Transport transport);

/// Returns the option names of all transports except kNone, separated by commas.
std::string transport_names();
/// Returns the names in files of all transports except kNone, separated by commas.
std::string transport_names_in_files();

}  // namespace tutti::core
