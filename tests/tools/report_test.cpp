// tutti report: the page has the figures of simulate and compare, is well-formed, and loads
// nothing.

#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>

#include "core/timeline/writer.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// Returns the first element of the page that is not closed, or is closed without being open; empty
/// if there is none.
std::string wrong_element(const std::string& page) {
  static const std::regex tag("<(/?)([a-zA-Z0-9]+)([^>]*?)(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
    const std::string name = (*at)[2];
    if (name == "meta" || (*at)[4].length() > 0) continue;
    if ((*at)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + ">";
}

void expect_self_contained(std::string page) {
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(wrong_element(page), "");
  // The name of SVG's namespace is not an address that browsers load.
  const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";
  for (std::size_t at = page.find(space); at != std::string::npos; at = page.find(space))
    page.erase(at, space.size());
  for (const char* const loads :
       {"http:", "https:", "src=", "<script", "<link", "@import", "url(", "<img", "<iframe"})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

class ReportPage : public testing::Test {
 protected:
  std::string simulated(const std::string& name, const std::string& text,
                        const std::vector<std::string>& more = {}) {
    const std::string file = folder.file(name);
    const Outcome o = run_tutti(test::with(
        {"simulate", folder.write(name + ".textproto", text), "--timeline", file}, more));
    EXPECT_EQ(o.status, 0) << o.err;
    text_ = o.out;
    return file;
  }
  TemporaryFolder folder;
  std::string text_;  ///< the text output of the last simulation
};

TEST_F(ReportPage, HasTheValuesOfTheRun) {
  const std::string timeline = simulated("a.tutti", kSmall, {"--record", "steps"});
  const Outcome o = run_tutti({"report", timeline});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string page = folder.read("a.html");
  expect_self_contained(page);
  // The step time of the text output, such as "1.23 ms", is the first headline.
  std::smatch step_time;
  ASSERT_TRUE(std::regex_search(text_, step_time, std::regex("step time +([0-9.]+ .?s)")));
  EXPECT_THAT(page, HasSubstr("Step time<b>" + step_time[1].str() + "</b>"));
  EXPECT_THAT(page, HasSubstr("Exposed communication<b>"));
  EXPECT_EQ(count_of(page, "<svg"), 2) << "the parts of the step, and the last step";
  for (const char* const section : {"Critical path of the last step", "Packs of the last step",
                                    "Links", "Training steps", "About this run"})
    EXPECT_THAT(page, HasSubstr(std::string("<h2>") + section));
  EXPECT_THAT(page, HasSubstr("[1000, 1000]")) << "the text of the scenario";
}

TEST_F(ReportPage, ComparesTwoRuns) {
  const std::string a = simulated("a.tutti", kSmall),
                    b = simulated("b.tutti", kSmall, {"--set", "strategy.algorithm=psgpu"});
  const Outcome o = run_tutti({"report", a, b, "-o", folder.file("ab.html")});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string page = folder.read("ab.html");
  expect_self_contained(page);
  const Outcome compared = run_tutti({"compare", a, b});
  std::smatch share;
  ASSERT_TRUE(
      std::regex_search(compared.out, share, std::regex("step time .*?([+-][0-9]+\\.[0-9] %)")));
  EXPECT_THAT(page, HasSubstr("Difference<b>" + share[1].str() + "</b>"));
  EXPECT_EQ(count_of(page, "<svg"), 3) << "the parts of both, and a picture of each";
  EXPECT_THAT(page, HasSubstr("Packs of the last step, largest difference first"));
}

TEST_F(ReportPage, EscapesUserTexts) {
  const std::string evil = R"(
name: "<script>alert(1)</script> & \"more\""
cluster { workers { machine: "dgx1-v100" } }
workload { variable { name: "</svg><img src=x onerror=alert(2)>" shape: [1000, 1000] } }
strategy { algorithm: "ring" }
)";
  const std::string timeline = simulated("evil.tutti", evil);
  ASSERT_EQ(run_tutti({"report", timeline, timeline, "-o", folder.file("two.html")}).status, 0);
  ASSERT_EQ(run_tutti({"report", timeline, "-o", folder.file("one.html")}).status, 0);
  for (const char* const name : {"one.html", "two.html"}) {
    const std::string page = folder.read(name);
    EXPECT_EQ(wrong_element(page), "") << name;
    EXPECT_THAT(page, Not(HasSubstr("<script"))) << name;
    EXPECT_THAT(page, Not(HasSubstr("<img"))) << name;
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;")) << name;
  }
}

TEST_F(ReportPage, LimitsTheRowsOfTables) {
  const std::string timeline = simulated("a.tutti", kSmall, {"--steps", "5"});
  const Outcome o = run_tutti({"report", timeline, "--rows", "1", "-o", "-"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("4 more rows are left out"));
  expect_self_contained(o.out);
}

TEST_F(ReportPage, StatesWhyThePictureIsMissingAndWhatIsDamaged) {
  const std::string timeline = simulated("a.tutti", kSmall, {"--record", "none"});
  ASSERT_EQ(run_tutti({"report", timeline, "-o", folder.file("none.html")}).status, 0);
  EXPECT_THAT(folder.read("none.html"), HasSubstr("There is no picture: "));
  const std::string whole = folder.read("a.tutti");
  const std::string cut = folder.write("cut.tutti", whole.substr(0, whole.size() - 20));
  const Outcome o = run_tutti({"report", cut, "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("\"complete\": false"));
  EXPECT_THAT(folder.read("cut.html"), HasSubstr("damage"));
}

TEST_F(ReportPage, PackNumbersOfAForgedFileAreChecked) {
  for (const std::int32_t number : {1, 1'000'000, -1, std::numeric_limits<std::int32_t>::min()}) {
    std::ofstream out(folder.file("forged.tutti"), std::ios::binary);
    core::TimelineWriter writer(out);
    core::RunInfo run;
    run.scenario = "forged";
    run.packs.resize(1);
    writer.begin(run);
    core::PackRecord pack;
    pack.pack = number;
    pack.end = core::microseconds(3);
    writer.pack(pack);
    core::StepRecord step;
    step.end = core::microseconds(5);
    writer.step(step);
    writer.end();
    out.close();
    const Outcome o = run_tutti({"report", folder.file("forged.tutti"), "-o", "-"});
    EXPECT_EQ(o.status, 0) << number << ": " << o.err;
    expect_self_contained(o.out);
  }
}

TEST_F(ReportPage, AnyDamagedBlockGivesAPageOrAnError) {
  const std::string whole = folder.read(
      std::filesystem::path(simulated("a.tutti", kSmall, {"--record", "none"})).filename());
  // The stride reaches every block of the file, and is odd, so that different fields are hit.
  const std::size_t stride = whole.size() / 40 | 1;
  for (std::size_t at = 8; at < whole.size(); at += stride) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const Outcome o = run_tutti({"report", folder.write("damaged.tutti", damaged), "-o", "-"});
    EXPECT_THAT(o.status, testing::AnyOf(0, 1, 2)) << at << ": " << o.err;
  }
}

TEST_F(ReportPage, RefusesRequestsThatItCannotServe) {
  const std::string timeline = simulated("a.tutti", kSmall);
  expect_refused({"report", timeline, "-o", timeline}, folder,
                 {.code = ProblemCode::kConflict, .file = timeline});
  expect_refused({"report", timeline, "-o", folder.file("a.pdf")}, folder,
                 {ProblemCode::kUnsupported, "-o"});
  expect_refused({"report", timeline, timeline, timeline}, folder,
                 {ProblemCode::kMissing, "files"});
  expect_refused({"report", timeline, "--rows", "-1"}, folder, {ProblemCode::kTooSmall, "--rows"});
  expect_refused({"report", folder.file("absent.tutti")}, folder,
                 {.code = ProblemCode::kMissing, .file = folder.file("absent.tutti")});
}

}  // namespace
}  // namespace tutti
