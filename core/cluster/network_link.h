#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cluster/transport.h"

namespace tutti::core {

/// A kind of network link: what a port carries, and how long it takes (core/proto/machine.proto, NetworkLink).
struct NetworkLink {
  std::string name;
  Bandwidth port;  ///< data per direction: the line's rate, less what every packet takes besides
  Time latency;    ///< one way from card to card over one switch
  Time switch_latency;
  std::optional<Bandwidth> connection;
  std::string source;
  Transport transport = Transport::kNone;  ///< kNone: not stated
};

/// The kind that a text (text format or JSON) describes; `path` is what errors call it.
Expected<NetworkLink> read_network_link(const std::string& text, const std::string& path);

}  // namespace tutti::core
