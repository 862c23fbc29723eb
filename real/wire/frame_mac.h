#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "real/wire/digest.h"

namespace tutti::real {

inline constexpr std::size_t kMacBytes = 16;
using MacTag = std::array<std::byte, kMacBytes>;

/// Computes the authentication codes of the messages in one direction of a connection, in order.
/// The code of message n is the GMAC (AES-256-GCM without encryption, NIST SP 800-38D) of the
/// message with n as nonce. A message that is changed, repeated, dropped or sent out of order
/// therefore has a wrong code. The number n is not transmitted. REQUIRES: the key is used for one
/// direction of one connection only, since no nonce may be used twice.
class FrameMac {
 public:
  explicit FrameMac(const Sha256& key);
  FrameMac(FrameMac&&) noexcept;
  FrameMac& operator=(FrameMac&&) noexcept;
  ~FrameMac();

  /// Returns the code of the next message, which consists of `first` followed by `second`.
  MacTag next(std::span<const std::byte> first, std::span<const std::byte> second);
  /// Returns true if `tag` is the code of the next message. Takes the same time for all codes.
  bool verify(std::span<const std::byte> first, std::span<const std::byte> second,
              std::span<const std::byte, kMacBytes> tag);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::uint64_t next_ = 0;
};

}  // namespace tutti::real
