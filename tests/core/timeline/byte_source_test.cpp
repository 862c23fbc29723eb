#include "core/timeline/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/core/timeline/counted_bytes.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"

namespace tutti::core {
namespace {

/// Returns bytes whose content depends on their offset.
std::string pattern(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; bytes.size() < count; ++i) bytes += std::to_string(i) + ' ';
  return bytes.substr(0, count);
}

TEST(ByteSource, ReadsTheSameBytesFromAFileAndFromMemory) {
  const test::TemporaryFolder folder;
  const std::string bytes = pattern(1'000'003);
  const auto opened = open_byte_source(folder.write("a", bytes));
  ASSERT_TRUE(opened) << opened.error().message();
  for (const auto& source : {*opened, byte_source_of(bytes)}) {
    EXPECT_EQ(source->size(), bytes.size());
    EXPECT_EQ(source->read(0, bytes.size()), bytes);
    EXPECT_EQ(source->read(999'990, 100), bytes.substr(999'990)) << "as many as there are";
    EXPECT_EQ(source->read(bytes.size(), 1), "");
    EXPECT_EQ(source->read(~std::uint64_t{0}, 1), "");
    EXPECT_EQ(source->read(5, 0), "");
  }
}

TEST(ByteSource, ManyThreadsReadAFileAtOnce) {
  const test::TemporaryFolder folder;
  const std::string bytes = pattern(1 << 20);
  const auto source = open_byte_source(folder.write("a", bytes));
  ASSERT_TRUE(source);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t at = t * 17; at < bytes.size(); at += 4001)
        EXPECT_EQ((*source)->read(at, 100), bytes.substr(at, 100)) << at;
    });
  }
}

TEST(ByteSource, RefusesMissingFilesAndFolders) {
  using test::Mistake;
  EXPECT_THAT(open_byte_source("/no/such/file"),
              test::FailsWith(Mistake{ProblemCode::kMissing, "", 0, 0, "/no/such/file"}));
  EXPECT_THAT(open_byte_source("/tmp"),
              test::FailsWith(Mistake{ProblemCode::kWrongType, "", 0, 0, "/tmp"}));
}

TEST(ReadAhead, SequentialReadsNeedFewCallsAndLittleExtraData) {
  const std::string bytes = pattern(3 << 20);
  const test::CountedBytes source(bytes);
  ReadAhead ahead(source);
  for (std::size_t at = 0; at < bytes.size(); at += 1000)
    ASSERT_EQ(ahead.read(at, 1000), bytes.substr(at, 1000)) << at;
  EXPECT_EQ(ahead.read(bytes.size(), 10), "");
  EXPECT_LT(source.bytes(), bytes.size() * 11 / 10);
  EXPECT_LT(source.calls(), 20);
}

}  // namespace
}  // namespace tutti::core
