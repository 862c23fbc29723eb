#pragma once

#include <string_view>

namespace tutti::real {

/// The version of the protocol between processes. Increase it with every change that lets two
/// versions misread each other's bytes, or wait for bytes that do not come, although the message
/// schema is the same: changes of the handshake, frames, headers between workers, rings in shared
/// memory, or the order of messages. tests/real/protocol_test.cpp has the bytes of the current
/// version.
inline constexpr int kProtocolNumber = 1;

/// Returns a text such as "0.1.0+1-5f3a09c1": the release, followed by the parts that must be equal
/// at both ends, which are kProtocolNumber and a digest of the message schema without its comments.
std::string_view protocol();

/// Returns true if a process whose protocol() is `theirs` is compatible. Releases may differ, since
/// a separate check ensures that two processes make the same plan of a scenario
/// (core/scenario/plan_digest.h).
bool speaks_ours(std::string_view theirs);

}  // namespace tutti::real
