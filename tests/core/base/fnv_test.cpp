#include "core/base/fnv.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tutti::core {
namespace {

TEST(Fnv, MatchesPublishedHashes) {
  // SOURCE: Fowler, Noll, Vo, test vectors of FNV-1a, 64 bits: "", "a", "foobar".
  const auto hash = [](std::string_view text) {
    Fnv fnv;
    fnv.bytes(text);
    return fnv.value();
  };
  EXPECT_EQ(hash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash("foobar"), 0x85944171f73967e8u);
}

TEST(Fnv, EveryBitOfAWordChangesTheHash) {
  std::vector<std::byte> buffer(21);
  std::set<std::uint64_t> hashes;
  const auto add = [&] {
    Fnv fnv;
    fnv.words(buffer);
    hashes.insert(fnv.value());
  };
  add();
  for (std::byte& byte : buffer) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte(1 << bit);
      add();
      byte ^= std::byte(1 << bit);
    }
  }
  EXPECT_EQ(hashes.size(), 1 + 21 * 8u);
}

}  // namespace
}  // namespace tutti::core
