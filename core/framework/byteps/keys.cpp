#include "core/framework/byteps/keys.h"

#include <functional>
#include <string>

namespace tutti::core {

std::string_view to_string(KeyHash hash) {
  switch (hash) {
    case KeyHash::kDjb2: return "djb2";
    case KeyHash::kNaive: return "naive";
    case KeyHash::kBuiltIn: return "built_in";
    case KeyHash::kSdbm: return "sdbm";
  }
  return "";
}

std::uint64_t byteps_hash(KeyHash hash, std::uint64_t key) {
  if (hash == KeyHash::kNaive) return ((key >> 16) + key % 65536) * 9973;
  // All hash functions except kNaive hash the key's decimal digits.
  const std::string digits = std::to_string(key);
  if (hash == KeyHash::kBuiltIn) return std::hash<std::string>()(digits);
  std::uint64_t value = hash == KeyHash::kDjb2 ? 5381 : 0;
  for (const char digit : digits) {
    const auto c = static_cast<std::uint64_t>(digit);
    value = hash == KeyHash::kDjb2 ? value * 33 + c : value * 65599 + c;
  }
  return value;
}

}  // namespace tutti::core
