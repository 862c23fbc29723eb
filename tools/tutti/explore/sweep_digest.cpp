#include "tools/tutti/explore/sweep_ranks.h"

#include <cstddef>

#include <fmt/format.h>

#include "real/wire/digest.h"

namespace tutti::tools {

std::string sweep_digest(const std::string& identity) {
  std::string text;
  for (const std::byte byte : real::hmac_sha256("tutti sweep 3", identity))
    text += fmt::format("{:02x}", static_cast<int>(byte));
  return text;
}

}  // namespace tutti::tools
