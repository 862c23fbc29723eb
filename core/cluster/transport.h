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
  kEfa,
  kEfaCopies,  ///< EFA without RDMA
  kSlingshot,
  kTcpx,
  kTcpxo,
  kTcp
};

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
