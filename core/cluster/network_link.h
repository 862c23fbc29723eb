#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cluster/transport.h"

namespace tutti::core {

/// A kind of network link with the bandwidth of a port and its latency (core/proto/machine.proto,
/// NetworkLink).
struct NetworkLink {
  std::string name;
  Bandwidth port;  ///< payload per direction: the line rate less the headers of packets
  Time latency;    ///< one way from card to card over one switch
  Time switch_latency;
  std::optional<Bandwidth> connection;
  std::string source;
  Transport transport = Transport::kNone;  ///< kNone: not stated
};

/// Parses the description of a kind of link (text format or JSON); errors call the text `path`.
Expected<NetworkLink> read_network_link(const std::string& text, const std::string& path);

}  // namespace tutti::core
