#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::real {

using Sha256 = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 32>;
using RunId = std::array<std::byte, 16>;

/// Returns the HMAC-SHA256 (RFC 2104) of `message`, computed by OpenSSL's libcrypto.
Sha256 hmac_sha256(std::string_view key, std::string_view message);

/// Returns true if the digests are equal. The comparison takes constant time, so its duration
/// reveals nothing about the digests.
[[nodiscard]] bool same(const Sha256& a, const Sha256& b);

/// Fills memory with unpredictable bytes from the operating system. Aborts if the system cannot
/// provide random bytes, which does not happen on Linux.
void fill_random(void* to, std::size_t bytes);
Nonce random_nonce();
/// Returns a new random secret for a run, as hexadecimal digits. Used if the user specifies no
/// secret.
std::string random_secret();

}  // namespace tutti::real
