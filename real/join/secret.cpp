#include "real/join/secret.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace tutti::real {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kFewestDifferent = 8;
constexpr std::size_t kRandomDigits = 32;

std::size_t different_characters(std::string_view text) {
  return std::set<char>(text.begin(), text.end()).size();
}

}  // namespace

struct RunSecret::Shared {
  std::string text;
  std::mutex mutex;  ///< guards the following members
  std::optional<RunId> run;
  std::string key;  ///< the key of `run`
};

RunSecret::RunSecret(std::string text) : shared_(std::make_shared<Shared>()) {
  shared_->text = std::move(text);
}

const std::string& RunSecret::text() const { return shared_->text; }

std::string RunSecret::key(const RunId& run) const {
  if (text().empty() || is_random(text())) return text();
  const std::lock_guard lock(shared_->mutex);
  if (shared_->run != run) {
    const auto stretched = scrypt(
        text(), "tutti run " + std::string(reinterpret_cast<const char*>(run.data()), run.size()));
    if (!stretched) throw std::bad_alloc();  // libcrypto lacks memory, as malloc would
    shared_->key.assign(reinterpret_cast<const char*>(stretched->data()), stretched->size());
    shared_->run = run;
  }
  return shared_->key;
}

bool is_random(std::string_view secret) {
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  return secret.size() >= kRandomDigits && std::all_of(secret.begin(), secret.end(), is_digit) &&
         different_characters(secret) >= kFewestDifferent;
}

std::string weakness_of(std::string_view secret) {
  if (secret.size() < kShortest)
    return fmt::format("has {} characters; a run with workers on other machines needs at least {}",
                       secret.size(), kShortest);
  if (const std::size_t different = different_characters(secret); different < kFewestDifferent)
    return fmt::format(
        "has only {} different characters; a run with workers on other machines needs at least {}",
        different, kFewestDifferent);
  return "";
}

}  // namespace tutti::real
