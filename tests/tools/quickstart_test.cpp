// The quickstart script, with a build of a few lines of Ninja. The script shows progress, and does
// not build the window.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/clusters.h"
#include "tests/support/process.h"

namespace tutti::test {
namespace {

using testing::HasSubstr;

/// A folder with the script, and stand-ins for the programs that it calls. The stand-in for CMake
/// records its arguments.
class Quickstart : public testing::Test {
 protected:
  void SetUp() override {
    put("tools/install_packages.sh", "exit 0\n");
    put("bin/cmake", "echo \"$@\" >> '" + folder_.file("calls") +
                         "'\n[ \"$1\" = --build ] || exit 0\nfor i in 1 5 10 15 20; do echo "
                         "\"[$i/20] Building CXX\"; done\n" +
                         "exit ${BUILD_STATUS:-0}\n");
    put("build/release/bin/tutti", "echo 'step time 1 ms'\n");
    const std::filesystem::path script = source_folder() + "/tools/quickstart.sh";
    std::filesystem::copy_file(script, folder_.file("tools/quickstart.sh"));
  }

  /// Writes an executable shell script.
  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] Outcome run(const std::string& build_status) const {
    const std::string command = "PATH='" + folder_.file("bin") +
                                "':\"$PATH\" BUILD_STATUS=" + build_status + " exec bash '" +
                                folder_.file("tools/quickstart.sh") + "'";
    return Process::of({"/bin/sh", "-c", command}, {}).wait();
  }

  TemporaryFolder folder_;
};

TEST_F(Quickstart, ShowsTheProgressOfTheBuildWithoutTheWindow) {
  const Outcome o = run("0");
  EXPECT_EQ(o.status, 0) << o.err;
  for (const char* percent : {"  5 %", " 25 %", " 50 %", " 75 %", "100 %"})
    EXPECT_THAT(o.out, HasSubstr(percent));
  const std::string calls = folder_.read("calls");
  EXPECT_THAT(calls, HasSubstr("-DTUTTI_WINDOW=OFF"));
  EXPECT_THAT(calls, HasSubstr("--target tutti"));
}

TEST_F(Quickstart, StopsIfTheBuildFails) {
  const Outcome o = run("1");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("build/quickstart.log"));
  EXPECT_THAT(o.err, HasSubstr("Building CXX")) << "the end of the log";
}

}  // namespace
}  // namespace tutti::test
