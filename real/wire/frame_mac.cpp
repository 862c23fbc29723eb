#include "real/wire/frame_mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "core/base/check.h"

namespace tutti::real {
namespace {

const unsigned char* bytes_of(std::span<const std::byte> part) {
  return reinterpret_cast<const unsigned char*>(part.data());
}

}  // namespace

struct FrameMac::Context {
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_CIPHER_CTX_free(cipher); }
};

FrameMac::FrameMac(const Sha256& key) : context_(std::make_unique<Context>()) {
  TUTTI_CHECK(
      context_->cipher &&
          EVP_EncryptInit_ex(context_->cipher, EVP_aes_256_gcm(), nullptr,
                             reinterpret_cast<const unsigned char*>(key.data()), nullptr) == 1,
      "libcrypto has no AES-256-GCM");
}

FrameMac::FrameMac(FrameMac&&) noexcept = default;
FrameMac& FrameMac::operator=(FrameMac&&) noexcept = default;
FrameMac::~FrameMac() = default;

MacTag FrameMac::next(std::span<const std::byte> first, std::span<const std::byte> second) {
  std::array<unsigned char, 12> nonce{};
  for (std::size_t i = 0; i < sizeof next_; ++i)
    nonce[i] = static_cast<unsigned char>(next_ >> (8 * i) & 0xff);
  ++next_;
  EVP_CIPHER_CTX* const cipher = context_->cipher;
  bool good = EVP_EncryptInit_ex(cipher, nullptr, nullptr, nullptr, nonce.data()) == 1;
  int length = 0;
  for (const std::span<const std::byte> part : {first, second}) {
    if (!part.empty())
      good = good && EVP_EncryptUpdate(cipher, nullptr, &length, bytes_of(part),
                                       static_cast<int>(part.size())) == 1;
  }
  unsigned char none[16];
  MacTag tag{};
  good = good && EVP_EncryptFinal_ex(cipher, none, &length) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, kMacBytes, tag.data()) == 1;
  TUTTI_CHECK(good, "AES-256-GCM failed on a message of {} bytes", first.size() + second.size());
  return tag;
}

bool FrameMac::verify(std::span<const std::byte> first, std::span<const std::byte> second,
                      std::span<const std::byte, kMacBytes> tag) {
  const MacTag right = next(first, second);
  return CRYPTO_memcmp(right.data(), tag.data(), right.size()) == 0;
}

}  // namespace tutti::real
