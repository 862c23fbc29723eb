#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// The network transport between machines; NCCL's cost model has parameters for each. The numbers
/// are those of `Transport` in core/proto/machine.proto.
enum class Transport {
  kNone,  ///< not stated, or not needed
  kInfiniband,
  kRoce,
  kEfa,
  kEfaCopies,  ///< EFA without RDMA
  kSlingshot,
  kTcpx,
  kTcpxo,
  kTcp
};

/// Returns the name in options: "infiniband", "efa_without_rdma".
std::string_view to_string(Transport transport);
std::optional<Transport> parse_transport(std::string_view name);
/// Returns the name in files: "INFINIBAND", "EFA_WITHOUT_RDMA".
std::string name_in_files(Transport transport);

/// Returns the names of all transports that can be stated, as in options, separated by commas.
std::string transport_names();
/// Returns the same list with the names as in files.
std::string transport_names_in_files();

}  // namespace tutti::core
