#pragma once

#include "real/wire/digest.h"

namespace tutti::real {

/// The keys of one connection, which its handshake has derived. Both ends have the same keys:
/// the keys with which one end sends are the keys with which the other end receives.
struct SessionKeys {
  Sha256 send{}, receive{};                  ///< authenticate control messages (real/wire/frame.h)
  Sha256 send_data{}, receive_data{};        ///< authenticate messages between workers
  Sha256 tls{};                              ///< the pre-shared key of TLS
  Sha256 send_binding{}, receive_binding{};  ///< bind TLS to the handshake (real/join/tls.h)
};

}  // namespace tutti::real
