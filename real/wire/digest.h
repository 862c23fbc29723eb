#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::real {

using Sha256 = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 32>;
using RunId = std::array<std::byte, 16>;

/// Returns the HMAC-SHA256 (RFC 2104) of `message`, computed by OpenSSL's libcrypto.
Sha256 hmac_sha256(std::string_view key, std::string_view message);

/// Returns the SHA-256 digest of `message`.
Sha256 sha256(std::string_view message);

/// Derives a key from key material by HKDF-SHA256 (RFC 5869), extract and expand.
Sha256 hkdf_sha256(std::string_view key, std::string_view salt, std::string_view info);

/// Derives a key from a secret by scrypt (RFC 7914) with N = 2^15, r = 8, p = 1. Takes 32 MiB of
/// memory and about a tenth of a second, so that guessing secrets is expensive. Returns nothing if
/// the memory is not available.
std::optional<Sha256> scrypt(std::string_view secret, std::string_view salt);

/// Returns true if the digests are equal. The comparison takes the same time for all digests.
[[nodiscard]] bool same(const Sha256& a, const Sha256& b);

/// Fills memory with unpredictable bytes from the operating system. Aborts if the system cannot
/// provide random bytes, which does not happen on Linux.
void fill_random(void* to, std::size_t bytes);
Nonce random_nonce();
/// Returns a new random secret for a run, as hexadecimal digits. Used if the user specifies no
/// secret.
std::string random_secret();

}  // namespace tutti::real
