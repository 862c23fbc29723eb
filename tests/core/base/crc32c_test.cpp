#include "core/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::core {
namespace {

/// SOURCE: RFC 3720, appendix B.4; the check value of the Rocksoft model.
TEST(Crc32c, MatchesTheTestVectorsOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  std::string up;
  for (char c = 0; c < 32; ++c) up += c;
  EXPECT_EQ(crc32c(up), 0x46DD794Eu);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Crc32c, IsTheSameWithAndWithoutTheCpuInstruction) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(crc32c(bytes), crc32c_by_tables(bytes)) << i;
    bytes += static_cast<char>(i * 53);
  }
}

TEST(Crc32c, DetectsEveryFlippedBit) {
  std::string bytes;
  for (int i = 0; i < 61; ++i) bytes += static_cast<char>(i * 37);
  const std::uint32_t right = crc32c(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(crc32c(flipped), right) << bit;
  }
}

}  // namespace
}  // namespace tutti::core
