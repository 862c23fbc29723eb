#include "tools/tutti/io/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/program.h"

namespace tutti {
namespace {

using test::TemporaryFolder;
using tools::free_memory;
using tools::MemoryFiles;

class MemoryLimit : public testing::Test {
 protected:
  [[nodiscard]] std::optional<std::uint64_t> free() const {
    return free_memory({folder_.file("meminfo"), folder_.file("groups"), folder_.file("cgroup")});
  }
  /// Writes a file, and creates its folders.
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// The format of Linux 6.1, shortened. 2,048,000,000 bytes are available.
  void write_meminfo() const {
    write("meminfo",
          "MemTotal:       24000000 kB\nMemFree:         1000000 kB\nMemAvailable:    2000000 "
          "kB\nBuffers:           "
          "81204 kB\nActive(anon):       1432 kB\nHugePages_Total:       0\nHugepagesize:       "
          "2048 kB\n");
  }

  TemporaryFolder folder_;
};

TEST_F(MemoryLimit, IsTheFreeMemoryOfTheMachine) {
  write_meminfo();
  EXPECT_EQ(free(), 2'048'000'000U);
}

TEST_F(MemoryLimit, IsThatOfTheControlGroupIfThisIsLess) {
  write_meminfo();
  write("cgroup/memory.current", "300000000\n");
  write("cgroup/memory.max", "1000000000\n");
  EXPECT_EQ(free(), 700'000'000U);
  write("cgroup/memory.max", "9000000000\n");
  EXPECT_EQ(free(), 2'048'000'000U);
  write("cgroup/memory.max", "max\n");
  EXPECT_EQ(free(), 2'048'000'000U);
  write("cgroup/memory.max", "200000000\n");
  EXPECT_EQ(free(), 0U) << "more is taken than is allowed";
}

TEST_F(MemoryLimit, IsThatOfAParentControlGroupIfThisIsLess) {
  write_meminfo();
  write("groups", "0::/system.slice/job_7.scope/step_0\n");
  write("cgroup/system.slice/job_7.scope/memory.max", "1500000000\n");
  write("cgroup/system.slice/job_7.scope/memory.current", "100000000\n");
  write("cgroup/system.slice/job_7.scope/step_0/memory.max", "max\n");
  write("cgroup/system.slice/job_7.scope/step_0/memory.current", "50000000\n");
  EXPECT_EQ(free(), 1'400'000'000U);
  write("cgroup/system.slice/job_7.scope/step_0/memory.max", "450000000\n");
  EXPECT_EQ(free(), 400'000'000U);
}

TEST_F(MemoryLimit, CountsPageCacheThatCanBeDroppedAsFree) {
  write_meminfo();
  write("cgroup/memory.max", "1000000000\n");
  write("cgroup/memory.current", "900000000\n");
  write("cgroup/memory.stat",
        "anon 300000000\nfile 600000000\nactive_file 100000000\ninactive_file 500000000\n");
  EXPECT_EQ(free(), 600'000'000U);
}

TEST_F(MemoryLimit, SupportsControlGroupsOfVersion1) {
  write_meminfo();
  write("groups", "9:name=systemd:/\n4:cpuset,memory:/docker/3fa9\n1:cpu:/other\n0::/\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cgroup/memory/memory.usage_in_bytes", "5000000000\n");
  EXPECT_EQ(free(), 2'048'000'000U) << "no limit";
  write("cgroup/memory/docker/3fa9/memory.limit_in_bytes", "1000000000\n");
  write("cgroup/memory/docker/3fa9/memory.usage_in_bytes", "400000000\n");
  write("cgroup/memory/docker/3fa9/memory.stat",
        "inactive_file 1\ntotal_inactive_file 150000000\n");
  EXPECT_EQ(free(), 750'000'000U);
  // In a container, the topmost visible folder is that of its own group.
  write("groups", "4:memory:/docker/of_the_host\n");
  write("cgroup/memory/memory.limit_in_bytes", "6000000000\n");
  EXPECT_EQ(free(), 1'000'000'000U);
}

TEST_F(MemoryLimit, IsAbsentIfTheMemoryIsUnknown) {
  EXPECT_EQ(free(), std::nullopt);
  write("meminfo", "MemTotal: 5 kB\nnonsense");
  write("groups", "nonsense\n0:\n");
  EXPECT_EQ(free(), std::nullopt);
}

}  // namespace
}  // namespace tutti
