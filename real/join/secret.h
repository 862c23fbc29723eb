#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "real/wire/digest.h"

namespace tutti::real {

/// The secret of a run, from which the keys of all handshakes are computed. Copies share a cache of
/// the computed key. Any thread may call key().
class RunSecret {
 public:
  RunSecret() : RunSecret(std::string()) {}
  RunSecret(std::string text);  // NOLINT(google-explicit-constructor): a secret is a text
  RunSecret(const char* text) : RunSecret(std::string(text)) {}  // NOLINT: the same

  /// Returns the key of the handshakes of `run`. Someone who has recorded a handshake can test
  /// guesses of the secret, so the key of a secret that might be guessed is computed by scrypt()
  /// with the run as salt, which makes each guess expensive. If the secret is random (is_random())
  /// or empty (a run without a secret), the key is the secret itself.
  [[nodiscard]] std::string key(const RunId& run) const;
  [[nodiscard]] const std::string& text() const;

  bool operator==(const RunSecret& other) const { return text() == other.text(); }

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// Returns true if the secret has the form of at least 128 random bits: at least 32 hexadecimal
/// digits, of which at least eight differ. `openssl rand -hex 16` makes such a secret. (The
/// probability that 32 random digits have fewer than eight different values is below 10^-7.)
[[nodiscard]] bool is_random(std::string_view secret);

/// Returns why the secret is too easy to guess, as the rest of a sentence that begins with "the
/// secret"; empty if the secret is strong enough. A secret needs at least 16 characters, of which
/// at least eight differ.
[[nodiscard]] std::string weakness_of(std::string_view secret);

}  // namespace tutti::real
