#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// What carries messages between machines; NCCL's times have figures for each. Numbers are those of
/// `Transport` in core/proto/machine.proto.
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

/// As options name it: "infiniband", "efa_without_rdma".
std::string_view to_string(Transport transport);
std::optional<Transport> parse_transport(std::string_view name);
/// As files name it: "INFINIBAND", "EFA_WITHOUT_RDMA".
std::string name_in_files(Transport transport);

/// All that can be stated, as options name them, with commas between them.
std::string transport_names();
/// The same as files name them.
std::string transport_names_in_files();

}  // namespace tutti::core
