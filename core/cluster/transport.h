#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// The network transport between machines. NCCL's cost model has parameters for each transport. The
/// values equal those of `Transport` in core/proto/machine.proto.
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

/// Returns the name as it is written in command-line options: "infiniband", "efa_without_rdma".
std::string_view to_string(Transport transport);
std::optional<Transport> parse_transport(std::string_view name);
/// Returns the name as it is written in files: "INFINIBAND", "EFA_WITHOUT_RDMA".
std::string name_in_files(Transport transport);

/// Returns the names of all transports except kNone as they are written in options, separated by
/// commas.
std::string transport_names();
/// Returns the names of all transports except kNone as they are written in files, separated by
/// commas.
std::string transport_names_in_files();

}  // namespace tutti::core
