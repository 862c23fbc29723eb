// cluster { file: … }: a scenario whose cluster is described in a separate file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/scenario/scenario.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::FailsWith;
using test::Mistake;

constexpr const char* kRest =
    "workload { variable { name: \"a\" shape: 100 } update_ms: 0 } strategy { algorithm: \"ring\" "
    "}";
constexpr const char* kClusterFile =
    "workers { machine: \"m\" count: 3 } network { kind: ONE_SWITCH latency_us: 2 } machine { "
    "name: \"m\" device { "
    "name: "
    "\"cpu0\" kind: CPU memory_gb_per_s: 50 } nic { name: \"n\" bandwidth_gb_per_s: 4 } link { "
    "from: \"cpu0\" to: "
    "\"n\" "
    "kind: PCIE bandwidth_gb_per_s: 6 latency_us: 1 } }";

TEST(ClusterFile, IsEquivalentToTheClusterInTheScenario) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/clusters");
  static_cast<void>(folder.write("clusters/c.textproto", kClusterFile));
  const auto apart = load_scenario(
      folder.write("s.textproto",
                   std::string("cluster { file: \"clusters/c.textproto\" } ") + kRest),
      test::shipped_library());
  const auto whole = load_scenario(
      folder.write("w.textproto", std::string("cluster { ") + kClusterFile + " } " + kRest),
      test::shipped_library());
  ASSERT_TRUE(apart) << apart.error().message();
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(apart->cluster->replicas(), 3);
  EXPECT_EQ(describe(*apart->cluster), describe(*whole->cluster));
  const auto there = read_scenario(apart->text, "sent", Library(apart->files));
  ASSERT_TRUE(there) << "with the files that it names, it can be read elsewhere: "
                     << there.error().message();
  EXPECT_EQ(describe(*there->cluster), describe(*whole->cluster));
  for (LinkId link = 0; link < whole->cluster->links(); ++link) {
    EXPECT_EQ(apart->cluster->link(link).bandwidth, whole->cluster->link(link).bandwidth);
    EXPECT_EQ(apart->cluster->link(link).latency, whole->cluster->link(link).latency);
  }
}

TEST(ClusterFile, MachineFilesAreRelativeToIt) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/clusters");
  static_cast<void>(
      folder.write("clusters/m.textproto",
                   "name: \"m\" device { name: \"gpu0\" kind: GPU memory_gb_per_s: 50 }"));
  static_cast<void>(folder.write("clusters/c.textproto", "workers { machine: \"m.textproto\" }"));
  const auto scenario = load_scenario(
      folder.write("s.textproto",
                   std::string("cluster { file: \"clusters/c.textproto\" } ") + kRest),
      test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(describe(*scenario->cluster), "1 × m, 1 GPU");
}

TEST(ClusterFile, ErrorsHavePositions) {
  const test::TemporaryFolder folder;
  const auto read = [&folder](const std::string& cluster) {
    return load_scenario(folder.write("s.textproto", "cluster { " + cluster + " }\n" + kRest),
                         test::shipped_library());
  };
  const std::string here = folder.file("s.textproto"), there = folder.file("c");
  EXPECT_THAT(read("file: \"absent\""),
              FailsWith(Mistake{ProblemCode::kUnknownName, "Cluster.file", 1, 17, here}));
  static_cast<void>(folder.write("c", kClusterFile));
  EXPECT_THAT(read("file: \"c\" network { kind: RAILS latency_us: 1 }"),
              FailsWith(Mistake{ProblemCode::kUnused, "Cluster.file", 1, 17, here}));
  static_cast<void>(folder.write("c", "file: \"c\""));
  EXPECT_THAT(read("file: \"c\""),
              FailsWith(Mistake{ProblemCode::kUnsupported, "Cluster.file", 1, 7, there}));
  static_cast<void>(folder.write("c", "workers { machine: \"nobody\" cuont: 2 }"));
  EXPECT_THAT(read("file: \"c\""),
              FailsWith(Mistake{ProblemCode::kUnknownField, "Workers.cuont", 1, 29, there}));
  static_cast<void>(folder.write("c", "workers { machine: \"nobody\" }"));
  EXPECT_THAT(read("file: \"c\""),
              FailsWith(Mistake{ProblemCode::kUnknownName, "Workers.machine", 1, 20, there}));
  static_cast<void>(folder.write("c", "workers { machine: \"cpu-host\" count: 2 }"));
  EXPECT_THAT(read("file: \"c\""),
              FailsWith(Mistake{ProblemCode::kMissing, "Cluster.network", 1, 1, there}));
}

}  // namespace
}  // namespace tutti::core
