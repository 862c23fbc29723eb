#pragma once

#include <string_view>

namespace tutti::real {

/// The number of the protocol between processes. Increase it if two versions would misread each
/// other's bytes, or wait for bytes that do not come, although the schema of the messages is the
/// same: for changes of the handshake, frames, headers between workers, rings in shared memory, or
/// the order of messages. tests/real/protocol_test.cpp has the bytes of this number.
inline constexpr int kProtocolNumber = 1;

/// Returns "0.1.0+1-5f3a09c1": the release, then what both ends must have in common: the number,
/// and a digest of the messages' schema without its comments.
std::string_view protocol();

/// True if a process whose protocol() is `theirs` is compatible. Releases may differ: whether two
/// processes make the same plan of a scenario is checked separately (core/scenario/plan_digest.h).
bool speaks_ours(std::string_view theirs);

}  // namespace tutti::real
