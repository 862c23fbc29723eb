#include "real/wire/digest.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <memory>

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

Sha256 sha256(std::string_view message) {
  Sha256 result{};
  unsigned int length = 0;
  TUTTI_CHECK(
      EVP_Digest(message.data(), message.size(), reinterpret_cast<unsigned char*>(result.data()),
                 &length, EVP_sha256(), nullptr) == 1 &&
          length == result.size(),
      "libcrypto has no SHA-256");
  return result;
}

Sha256 hkdf_sha256(std::string_view key, std::string_view salt, std::string_view info) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(
      EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  TUTTI_CHECK(kdf, "libcrypto has no HKDF");
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(
      EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  // OpenSSL does not change these inputs, although its parameters are pointers to non-const data.
  const auto bytes = [](std::string_view text) { return const_cast<char*>(text.data()); };
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, bytes(key), key.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, bytes(salt), salt.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, bytes(info), info.size()),
      OSSL_PARAM_construct_end()};
  Sha256 result{};
  TUTTI_CHECK(
      context && EVP_KDF_derive(context.get(), reinterpret_cast<unsigned char*>(result.data()),
                                result.size(), parameters) == 1,
      "HKDF failed");
  return result;
}

std::optional<Sha256> scrypt(std::string_view secret, std::string_view salt) {
  constexpr std::uint64_t kCost = 1 << 15, kBlock = 8, kParallel = 1, kMaxMemory = 64 << 20;
  Sha256 result{};
  if (EVP_PBE_scrypt(secret.data(), secret.size(),
                     reinterpret_cast<const unsigned char*>(salt.data()), salt.size(), kCost,
                     kBlock, kParallel, kMaxMemory, reinterpret_cast<unsigned char*>(result.data()),
                     result.size()) != 1)
    return std::nullopt;
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
