#pragma once

#include <optional>
#include <string>

#include "real/join/control.h"
#include "real/join/reception.h"

namespace tutti::test {

/// A worker or coordinator that is none: shakes hands as told, and then says whatever the test has
/// it say.

/// Connects to a coordinator on loopback. Nothing if it did not let it in.
std::optional<real::ControlChannel> join_as(int port, const std::string& secret,
                                            const std::string& version, std::int32_t worker,
                                            std::string* their_version = nullptr);

/// The next who joins at `listener`. Nothing if nobody came, or it was not let in.
std::optional<real::ControlChannel> let_in(const real::Listener& listener,
                                           const std::string& secret, const std::string& version);

/// A plain connection to loopback.
real::Socket connect_plainly(int port);

}  // namespace tutti::test
