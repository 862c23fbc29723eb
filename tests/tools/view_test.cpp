// `tutti view`: a picture without a display where the window was built, one clear line where it was not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/clusters.h"
#include "tests/support/program.h"

namespace tutti::test {
namespace {

using testing::HasSubstr;

bool has_window() { return std::filesystem::exists(std::filesystem::path(TUTTI_PROGRAM_FOLDER) / "tutti-view"); }

TEST(View, WithoutTheWindowSaysWhatToDo) {
  if (has_window()) GTEST_SKIP() << "Qt is here, and the window was built";
  const Outcome o = run_tutti({"view", "any.tutti"});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, testing::AllOf(HasSubstr("built without Qt 6"), HasSubstr("install_packages.sh window")));
}

TEST(View, WritesAPictureWithoutADisplay) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string timeline = folder.file("t.tutti"), picture = folder.file("t.png");
  ASSERT_EQ(
      run_tutti({"simulate", source_folder() + "/scenarios/01_two_ranks.textproto", "--timeline", timeline}).status, 0);
  const Outcome o = run_tutti({"view", timeline, "--screenshot", picture, "--size", "800x500", "--dark"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_TRUE(folder.read("t.png").starts_with("\x89PNG"));
}

TEST(View, OpensAScenarioAndRunsIt) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string scenario = source_folder() + "/scenarios/01_two_ranks.textproto";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {scenario}, {scenario, "--run"}, {folder.write("wrong.textproto", "run {")}}) {
    std::vector<std::string> all{"view", "--screenshot", folder.file("t.png")};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome o = run_tutti(all);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.err, "");
    EXPECT_TRUE(folder.read("t.png").starts_with("\x89PNG"));
    std::filesystem::remove(folder.file("t.png"));
  }
  const Outcome wrong =
      run_tutti({"view", folder.file("wrong.textproto"), "--run", "--screenshot", folder.file("t.png")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.textproto:1:"));
}

TEST(View, WithoutADisplaySaysSo) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) ::unsetenv(variable);
  const Outcome o = run_tutti({"view"});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("there is no display here"));
}

TEST(View, WhatCannotBeIsRefusedInOneLine) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string picture = folder.file("t.png");
  const Outcome gone = run_tutti({"view", folder.file("gone.tutti"), "--screenshot", picture});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, HasSubstr("gone.tutti"));
  EXPECT_THAT(run_tutti({"view", folder.write("x.tutti", "no timeline"), "--screenshot", picture}).err,
              HasSubstr("timeline"));
  EXPECT_THAT(run_tutti({"view", folder.write("bytes.textproto", "\xff\xfe"), "--screenshot", picture}).err,
              HasSubstr("not UTF-8"));
  EXPECT_THAT(run_tutti({"view", folder.file("x.tutti"), "--run"}).err, HasSubstr("--run runs a scenario"));
  EXPECT_THAT(run_tutti({"view", "x", "--screenshot", picture, "--size", "wide"}).err,
              HasSubstr("--size wide: expected"));
  EXPECT_FALSE(std::filesystem::exists(picture));
}

}  // namespace
}  // namespace tutti::test
