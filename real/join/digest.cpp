#include "real/join/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::real {

Sha256 hmac_sha256(std::string_view key, std::string_view message) {
  Sha256 result{};
  unsigned int length = 0;
  const unsigned char* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(),
           reinterpret_cast<unsigned char*>(result.data()), &length);
  TUTTI_CHECK(done && length == result.size(), "libcrypto has no SHA-256");
  return result;
}

bool same(const Sha256& a, const Sha256& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(void* to, std::size_t bytes) {
  TUTTI_CHECK(RAND_bytes(static_cast<unsigned char*>(to), static_cast<int>(bytes)) == 1,
              "no random bytes");
}

Nonce random_nonce() {
  Nonce nonce;
  fill_random(nonce.data(), nonce.size());
  return nonce;
}

std::string random_secret() {
  std::string secret;
  for (const std::byte byte : random_nonce())
    secret += fmt::format("{:02x}", std::to_integer<int>(byte));
  return secret;
}

}  // namespace tutti::real
