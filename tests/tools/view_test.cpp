// `tutti view`: a picture without a display if the window was built, and otherwise one clear error
// line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/support/clusters.h"
#include "tests/support/program.h"

namespace tutti::test {
namespace {

using testing::HasSubstr;

bool has_window() {
  return std::filesystem::exists(std::filesystem::path(TUTTI_PROGRAM_FOLDER) / "tutti-view");
}

TEST(View, WithoutTheWindowStatesARemedy) {
  if (has_window()) GTEST_SKIP() << "Qt is here, and the window was built";
  const Outcome o = run_tutti({"view", "any.tutti"});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("install_packages.sh window"));
}

TEST(View, WritesAPictureWithoutADisplay) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string timeline = folder.file("t.tutti"), picture = folder.file("t.png");
  ASSERT_EQ(run_tutti({"simulate", source_folder() + "/scenarios/01_two_ranks.textproto",
                       "--timeline", timeline})
                .status,
            0);
  const Outcome o =
      run_tutti({"view", timeline, "--screenshot", picture, "--size", "800x500", "--dark"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_TRUE(folder.read("t.png").starts_with("\x89PNG"));
}

TEST(View, OpensAScenarioAndRunsIt) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string scenario = source_folder() + "/scenarios/01_two_ranks.textproto";
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {scenario},
                                                {scenario, "--run"},
                                                {folder.write("wrong.textproto", "run {")}}) {
    std::vector<std::string> all{"view", "--screenshot", folder.file("t.png")};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome o = run_tutti(all);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.err, "");
    EXPECT_TRUE(folder.read("t.png").starts_with("\x89PNG"));
    std::filesystem::remove(folder.file("t.png"));
  }
  const Outcome wrong = run_tutti(
      {"view", folder.file("wrong.textproto"), "--run", "--screenshot", folder.file("t.png")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.textproto:1:"));
}

TEST(View, ReportsAMissingDisplay) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    ::unsetenv(variable);
  const Outcome o = run_tutti({"view"});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("display"));
}

TEST(View, NamesADisplayThatCannotBeOpened) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  for (const char* variable : {"WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) ::unsetenv(variable);
  ::setenv("DISPLAY", ":54321", 1);
  const Outcome o = run_tutti({"view"});
  ::unsetenv("DISPLAY");
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("the display :54321 cannot be opened; "));
}

TEST(View, DeletesATemporaryFile) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string inside = folder.file("inside");
  ASSERT_TRUE(std::filesystem::create_directory(inside));
  const std::string timeline = inside + "/t.tutti";
  ASSERT_EQ(run_tutti({"simulate", source_folder() + "/scenarios/01_two_ranks.textproto",
                       "--timeline", timeline})
                .status,
            0);
  const std::string picture = folder.file("t.png");
  EXPECT_THAT(run_tutti({"view", "--delete-file", "--screenshot", picture}).err,
              HasSubstr("--delete-file needs one timeline"));
  EXPECT_EQ(run_tutti({"view", timeline, "--delete-file", "--screenshot", picture}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(picture));
  EXPECT_FALSE(std::filesystem::exists(inside));
  EXPECT_THAT(run_tutti({"view", "--opened-fd", "99"}).err, HasSubstr("--opened-fd 99: expected"));
}

TEST(View, RefusesInvalidRequestsInOneLine) {
  if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
  const TemporaryFolder folder;
  const std::string picture = folder.file("t.png");
  const Outcome gone = run_tutti({"view", folder.file("gone.tutti"), "--screenshot", picture});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, HasSubstr("gone.tutti"));
  EXPECT_THAT(
      run_tutti({"view", folder.write("x.tutti", "no timeline"), "--screenshot", picture}).err,
      HasSubstr("timeline"));
  EXPECT_THAT(
      run_tutti({"view", folder.write("bytes.textproto", "\xff\xfe"), "--screenshot", picture}).err,
      HasSubstr("bytes.textproto:1:1: "));
  EXPECT_THAT(run_tutti({"view", folder.file("x.tutti"), "--run"}).err, HasSubstr("--run "));
  EXPECT_THAT(run_tutti({"view", "x", "--screenshot", picture, "--size", "wide"}).err,
              HasSubstr("--size wide: "));
  EXPECT_FALSE(std::filesystem::exists(picture));
}

/// Pictures of two runs of one small scenario, and of one run of another.
class Pictures : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_window()) GTEST_SKIP() << "Qt is not here (tools/install_packages.sh window)";
    const std::string scenario = source_folder() + "/scenarios/01_two_ranks.textproto";
    for (const char* name : {"a.tutti", "b.tutti"})
      ASSERT_EQ(
          run_tutti({"simulate", scenario, "--record", "steps", "--timeline", folder.file(name)})
              .status,
          0);
  }
  Outcome picture(std::vector<std::string> words) {
    std::filesystem::remove(folder.file("t.png"));
    words.insert(words.begin(), {"view", "--screenshot", folder.file("t.png")});
    return run_tutti(words);
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& why) {
    const Outcome o = picture(words);
    EXPECT_EQ(o.status, 2) << why;
    EXPECT_THAT(o.err, testing::AllOf(testing::StartsWith("tutti: "), HasSubstr(why)));
    EXPECT_FALSE(std::filesystem::exists(folder.file("t.png"))) << why;
  }

  TemporaryFolder folder;
};

TEST_F(Pictures, MissingPanelsCauseOneLineOfError) {
  const std::string a = folder.file("a.tutti"), b = folder.file("b.tutti");
  EXPECT_EQ(picture({a, "--from-us", "10", "--to-us", "90", "--find", "receive-reduce-copy-send",
                     "--at-us", "20", "--device", "w0/gpu1"})
                .status,
            0);
  expect_refused({a, "--find", "none"}, "--find none: ");
  expect_refused({a, "--from-us", "100", "--to-us", "101", "--find", "update gpu7"},
                 "--find update gpu7");
  expect_refused({a, "--from-us", "8e12"}, "--from-us 8000000000000: ");
  expect_refused({a, "--at-us", "110"}, "--at-us 110: ");
  expect_refused({a, "--to-us", "0"}, "--to-us 0: ");
  expect_refused({a, "--from-us", "5", "--to-us", "5"}, "--from-us 5 ");
  expect_refused({a, "--device", "nosuch"}, "--device nosuch: ");
  expect_refused({a, "--error", "1"}, "--error ");
  expect_refused({a, b, "--error", "99999"}, "--error 99999: ");
  expect_refused({a, b, "--device", "nosuch"}, "--device nosuch: ");
  expect_refused({source_folder() + "/scenarios/01_two_ranks.textproto", "--find", "pack 0"},
                 "--find ");
  expect_refused({"--at-us", "3"}, "--at-us ");
}

TEST_F(Pictures, ShowTheRequestedPanel) {
  const std::string a = folder.file("a.tutti");
  std::set<std::string> pictures;
  for (const char* const panel :
       {"communication", "query", "marks", "found", "differences", "numbers"}) {
    ASSERT_EQ(picture({a, "--panel", panel}).status, 0) << panel;
    EXPECT_TRUE(pictures.insert(folder.read("t.png")).second) << panel;
  }
  ASSERT_EQ(picture({a, "--query", "SELECT count(*) FROM spans"}).status, 0);
  EXPECT_TRUE(pictures.insert(folder.read("t.png")).second);
  ASSERT_EQ(std::remove(folder.file("t.png").c_str()), 0);
  expect_refused({a, "--panel", "nosuch"}, "--panel nosuch: ");
  expect_refused({a, "--query", "SELECT nosuch FROM packs"}, "--query: no such column: nosuch");
  expect_refused({"--panel", "query"}, "--panel ");
}

TEST_F(Pictures, HaveTheRequestedDialog) {
  const std::string a = folder.file("a.tutti");
  std::set<std::string> pictures;
  for (const std::vector<std::string>& commands :
       {std::vector<std::string>{}, {"help"}, {"palette"}, {"path"}, {"path", "help"}}) {
    std::vector<std::string> words{a};
    for (const std::string& command : commands) words.insert(words.end(), {"--command", command});
    ASSERT_EQ(picture(words).status, 0);
    EXPECT_TRUE(pictures.insert(folder.read("t.png")).second) << testing::PrintToString(commands);
  }
  ASSERT_EQ(picture({"--command", "about"}).status, 0) << "without a file";
  ASSERT_EQ(picture({"--command", "open"}).status, 0) << "a dialog that waits";
  ASSERT_EQ(std::remove(folder.file("t.png").c_str()), 0);
  expect_refused({a, "--command", "nosuch"}, "--command nosuch: ");
  expect_refused({"--command", "nosuch"}, "--command list");
  expect_refused({"--command", "panel-numbers"},
                 "--command panel-numbers: this command is not available");
  const Outcome list = run_tutti({"view", "--command", "list"});
  EXPECT_EQ(list.status, 0) << list.err;
  for (const char* const id : {"\nhelp ", "\npath ", "\npanel-numbers "})
    EXPECT_THAT(list.out, HasSubstr(id));
}

TEST_F(Pictures, HaveTheRequestedSize) {
  expect_refused({folder.file("a.tutti"), "--size", "300x200"}, "--size 300x200: ");
  const Outcome o = picture({folder.file("a.tutti"), "--size", "300x200"});
  const std::string least = o.err.substr(o.err.rfind(' ') + 1, o.err.size() - o.err.rfind(' ') - 2);
  ASSERT_EQ(picture({folder.file("a.tutti"), "--size", least}).status, 0) << least;
  const std::string png = folder.read("t.png");
  const auto big_endian = [&](std::size_t at) {
    return (static_cast<unsigned char>(png[at]) << 8 | static_cast<unsigned char>(png[at + 1]));
  };
  EXPECT_EQ(std::to_string(big_endian(18)) + "x" + std::to_string(big_endian(22)), least);
}

TEST_F(Pictures, NeedANameWithPngOrSvg) {
  for (const auto& [name, why] :
       {std::pair("a.xyz", "--screenshot a.xyz: "), std::pair("", "--screenshot: ")}) {
    const Outcome o = run_tutti({"view", folder.file("a.tutti"), "--screenshot", name});
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr(why));
  }
  const Outcome o = run_tutti({"view", "--screenshot", folder.file("t.svg")});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr(".svg"));
}

TEST_F(Pictures, RefuseAPipeAtOnce) {
  const std::string pipe = folder.file("pipe.tutti");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused({pipe}, "pipe.tutti: ");
  expect_refused({folder.file("a.tutti"), pipe}, "pipe.tutti: ");
  expect_refused({pipe, folder.file("a.tutti")}, "pipe.tutti: ");
}

}  // namespace
}  // namespace tutti::test
