#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cluster/transport.h"

namespace tutti::core {

/// A type of network link, with its bandwidth and latency (message NetworkLink in
/// core/proto/machine.proto).
struct NetworkLink {
  std::string name;
  Bandwidth port;  ///< bandwidth of a port per direction, without packet headers
  Time latency;    ///< one-way latency from card to card over a single switch
  Time switch_latency;
  std::optional<Bandwidth> connection;
  std::string source;
  Transport transport = Transport::kNone;                           ///< kNone: unspecified
  std::optional<int> nccl_socket_threads, nccl_sockets_per_thread;  ///< as in Network
};

/// Parses the description of a link type (text format or JSON). Error messages use `path` as the
/// name of the text.
Expected<NetworkLink> read_network_link(const std::string& text, const std::string& path);

}  // namespace tutti::core
