// tutti convert rewrites scenarios of the old form, and leaves everything else unchanged.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

const std::string kBegin =
    "cluster { workers { machine: \"dgx1-v100\" } }\nworkload { variable { name: \"a\" shape: 1000 "
    "} }\n";
const std::string kOld = kBegin + "strategy {\n  mirrored { num_packs: 2 }  # mine\n}\n";
const std::string kNow =
    kBegin + "strategy {\n  tensorflow { mirrored { num_packs: 2 } }  # mine\n}\n";

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Convert, RewritesFilesInPlaceAndIsIdempotent) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.textproto", kOld), b = folder.write("b.textproto", kNow);
  fs::permissions(a, fs::perms::owner_read | fs::perms::owner_write);
  Outcome o = run_tutti({"convert", a, b});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(
      o.err,
      AllOf(HasSubstr("a.textproto:4:3: strategy.mirrored moved to strategy.tensorflow.mirrored"),
            HasSubstr("b.textproto: nothing to change")));
  EXPECT_EQ(content(a), kNow);
  EXPECT_EQ(content(b), kNow);
  EXPECT_EQ(fs::status(a).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto written = fs::last_write_time(a);
  o = run_tutti({"convert", a});
  EXPECT_THAT(o.err, HasSubstr("nothing to change"));
  EXPECT_EQ(fs::last_write_time(a), written);
  EXPECT_THAT(folder.files(), ElementsAre("a.textproto", "b.textproto"));
}

TEST(Convert, WritesToAnotherFileOrStandardOutput) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.textproto", kOld), b = folder.file("b.textproto");
  EXPECT_EQ(run_tutti({"convert", a, "-o", b}).status, 0);
  EXPECT_EQ(content(a), kOld);
  EXPECT_EQ(content(b), kNow);
  EXPECT_EQ(run_tutti({"convert", a, "-o", "-"}).out, kNow);
  EXPECT_EQ(run_tutti({"convert", b, "-o", "-"}).out, kNow) << "in the current form";
  const Outcome o = run_tutti({"convert", a, "-o", b, "--format", "json"});
  EXPECT_THAT(o.out, AllOf(HasSubstr("\"was\": \"strategy.mirrored\""), HasSubstr("\"line\": 4")));
}

TEST(Convert, RefusesInvalidFiles) {
  const TemporaryFolder folder;
  const std::string broken = folder.write("broken.textproto", "strategy { mirrored { }\n");
  const std::string a = folder.write("a.textproto", kOld);
  expect_refused({"convert", broken}, folder, HasSubstr("broken.textproto:"));
  expect_refused({"convert", folder.file("none.textproto")}, folder, HasSubstr("none.textproto"));
  expect_refused({"convert", a, broken, "-o", folder.file("b")}, folder, HasSubstr("-o"));
  expect_refused({"convert", a, "-o", a}, folder, HasSubstr("an input file"));
  EXPECT_EQ(content(a), kOld);
  EXPECT_EQ(run_tutti({"convert", broken, a}).status, 2);
  EXPECT_EQ(content(a), kNow) << "other files are still converted";
}

TEST(Convert, OlderScenariosRunWithAWarningAndTheirTimelinesLoadWithoutOne) {
  const TemporaryFolder folder;
  const std::string old_form = folder.write("a.textproto", kOld),
                    now = folder.write("b.textproto", kNow);
  const std::string timeline = folder.file("a.tutti");
  const Outcome o = run_tutti({"simulate", old_form, "--timeline", timeline, "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(
      o.err,
      AllOf(HasSubstr(
                "a.textproto:4:3: warning: strategy.mirrored is now strategy.tensorflow.mirrored"),
            HasSubstr("tensorflow { mirrored { num_packs: 2 } }"), HasSubstr("tutti convert ")));
  EXPECT_THAT(run_tutti({"simulate", now}).err, Not(HasSubstr("warning")));
  EXPECT_THAT(run_tutti({"compare", timeline, timeline}).err, Not(HasSubstr("older form")));
  EXPECT_EQ(
      run_tutti({"plan", old_form, "--format", "json"}).out,
      run_tutti({"plan", old_form, "--format", "json", "--set", "strategy.mirrored.num_packs=2"})
          .out);
}

TEST(Convert, ResumesSweepsWithOlderNames) {
  const TemporaryFolder folder;
  const std::string old_form = folder.write("a.textproto", kOld), sweep = folder.file("a.sweep");
  const std::vector<std::string> words{
      "sweep", old_form, "--over", "strategy.mirrored.num_packs=1,2", "-o", sweep};
  Outcome o = run_tutti(words);
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(run_tutti(words).status, 0) << "again";
  o = run_tutti({"sweep", sweep});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.err, Not(HasSubstr("older form")));
}

}  // namespace
}  // namespace tutti
