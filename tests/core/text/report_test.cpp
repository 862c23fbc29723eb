// Reports, which are values with names and units: their JSON and text forms.

#include "core/text/report.h"

#include <gtest/gtest.h>

#include "core/text/utf8.h"

namespace tutti::core {
namespace {

TEST(Report, WritesValuesAsJsonInTheUnitsOfTheirNames) {
  const std::optional<int> unknown;
  Report report{{"pack", 3},
                {"time_us", Time(1'234'567)},
                {"bytes", Bytes(4096)},
                {"rate", bandwidth_from_gb_per_s(25)}};
  report.add("share", Fraction{0.25})
      .add("text", "a \"b\"")
      .add("done", true)
      .add("left_out", unknown);
  report.add("null", or_null(unknown))
      .add("names", std::vector<std::string>{"a", "b"})
      .add("", 1, "text alone");
  EXPECT_EQ(to_json(report),
            "{\n \"pack\": 3,\n \"time_us\": 1.234567,\n \"bytes\": 4096,\n \"rate\": 25.0,\n "
            "\"share\": 0.25,\n"
            " \"text\": \"a \\\"b\\\"\",\n \"done\": true,\n \"null\": null,\n \"names\": [\n  "
            "\"a\",\n  \"b\"\n ]\n}\n");
}

TEST(Report, JsonIsUtf8IfTextsAreNot) {
  const Report report{{"na\xC3", "a\xFF\x9B b"},
                      {"list", std::vector<std::string>{"\xED\xA0\x80"}}};
  const std::string json = to_json(report);
  EXPECT_EQ(valid_utf8(json), json.size()) << json;
}

TEST(Report, ShowsValuesWithUnits) {
  EXPECT_EQ(shown(ReportValue(microseconds(1500))), "1.50 ms");
  EXPECT_EQ(shown(ReportValue(Bytes(102'400'000))), "102 MB");
  EXPECT_EQ(shown(ReportValue(Fraction{0.123})), "12.3 %");
  EXPECT_EQ(shown(ReportValue(-7)), "-7");
  EXPECT_EQ(shown(ReportValue(std::optional<Time>())), "");
  EXPECT_EQ(shown(ReportField{"us", microseconds(1), "time", "about 1 µs"}), "about 1 µs");
}

TEST(Report, NestsReportsAndListsOfThem) {
  const Report report{{"rows", list_of(std::vector{1, 2},
                                       [](int n) {
                                         return Report{{"n", n}};
                                       })},
                      {"none", Report()}};
  EXPECT_EQ(
      to_json(report),
      "{\n \"rows\": [\n  {\n   \"n\": 1\n  },\n  {\n   \"n\": 2\n  }\n ],\n \"none\": {}\n}\n");
}

}  // namespace
}  // namespace tutti::core
