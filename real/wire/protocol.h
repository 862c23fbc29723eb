#pragma once

#include <string_view>

namespace tutti::real {

/// The version of the protocol between processes. Increase this number with every incompatible
/// change that the message schema does not show: a change of the handshake, of frames, of headers
/// between workers, of rings in shared memory, or of the order of messages.
/// tests/real/protocol_test.cpp compares messages with their bytes in the current version.
inline constexpr int kProtocolNumber = 3;

/// Returns a text such as "0.1.0+1-5f3a09c1": the release, then kProtocolNumber, then a digest of
/// the message schema without comments. The protocol number and the digest must be equal at both
/// ends.
std::string_view protocol();

/// Returns true if this process is compatible with a process whose protocol() is `theirs`. Releases
/// may differ, since a separate check ensures that both processes make the same plan of a scenario
/// (core/scenario/plan_digest.h).
bool is_compatible(std::string_view theirs);

}  // namespace tutti::real
