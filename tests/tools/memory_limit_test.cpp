#include "tools/tutti/memory_limit.h"

#include <gtest/gtest.h>

#include "tests/support/program.h"

namespace tutti {
namespace {

using test::TemporaryFolder;
using tools::free_memory;

constexpr const char* kMeminfo =
    "MemTotal:       24000000 kB\nMemFree:         1000000 kB\nMemAvailable:    2000000 kB\nHugePages_Total:       0\n";

TEST(MemoryLimit, IsWhatTheMachineHasLeft) {
  const TemporaryFolder folder;
  const std::string meminfo = folder.write("meminfo", kMeminfo);
  EXPECT_EQ(free_memory(meminfo, folder.path()), 2'048'000'000U);
}

TEST(MemoryLimit, OrItsControlGroupIfThatIsLess) {
  const TemporaryFolder folder;
  const std::string meminfo = folder.write("meminfo", kMeminfo);
  static_cast<void>(folder.write("memory.current", "300000000\n"));
  static_cast<void>(folder.write("memory.max", "1000000000\n"));
  EXPECT_EQ(free_memory(meminfo, folder.path()), 700'000'000U);
  static_cast<void>(folder.write("memory.max", "9000000000\n"));
  EXPECT_EQ(free_memory(meminfo, folder.path()), 2'048'000'000U);
  static_cast<void>(folder.write("memory.max", "max\n"));
  EXPECT_EQ(free_memory(meminfo, folder.path()), 2'048'000'000U);
  static_cast<void>(folder.write("memory.max", "200000000\n"));
  EXPECT_EQ(free_memory(meminfo, folder.path()), 0U) << "more is taken than is allowed";
}

TEST(MemoryLimit, IsNoneWhereNobodyKnows) {
  const TemporaryFolder folder;
  EXPECT_EQ(free_memory(folder.file("none"), folder.path()), std::nullopt);
  static_cast<void>(folder.write("meminfo", "MemTotal: 5 kB\nnonsense"));
  EXPECT_EQ(free_memory(folder.file("meminfo"), folder.path()), std::nullopt);
}

}  // namespace
}  // namespace tutti
