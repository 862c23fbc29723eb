#pragma once

#include <optional>
#include <string>

#include "real/join/control.h"
#include "real/join/reception.h"

namespace tutti::test {

/// A fake worker or coordinator, which performs the handshake and then sends the messages of the
/// test.

/// Connects to a coordinator on loopback as a worker. Returns nothing if the coordinator rejects
/// the connection.
std::optional<real::ControlChannel> join_as(int port, const std::string& secret,
                                            const std::string& version, std::int32_t worker,
                                            std::string* their_version = nullptr);

/// Accepts the next worker that joins at `listener`. Returns nothing if none joins, or if the
/// handshake fails.
std::optional<real::ControlChannel> let_in(const real::Listener& listener,
                                           const std::string& secret, const std::string& version);

/// Returns a TCP connection to a port of loopback, without a handshake.
real::Socket connect_plainly(int port);

}  // namespace tutti::test
