#pragma once

#include <string_view>

namespace tutti::real {

/// Raise it when those who talk to each other would take each other's bytes for something else, or wait for what does not come,
/// though the messages' schema is the same: handshake, frames, headers between workers, rings in shared memory, the order of
/// messages. tests/real/protocol_test.cpp has what the bytes of this number are.
inline constexpr int kProtocolNumber = 1;

/// "0.1.0+1-5f3a09c1": the release, then what those who want to talk to each other must have in common: the number, and a digest
/// of the messages' schema without its comments.
std::string_view protocol();

/// Somebody whose protocol() is `theirs` can be talked to. Releases may differ: whether two make the same plan of a scenario is
/// compared by itself (core/scenario/plan_digest.h).
bool speaks_ours(std::string_view theirs);

}  // namespace tutti::real
