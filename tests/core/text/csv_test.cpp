#include "core/text/csv.h"

#include <gtest/gtest.h>

#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::placed;

TEST(Csv, ReadsCommentsHeaderAndQuotedCells) {
  Problems problems;
  const CsvTable table = parse_csv(
      "# batch: 128\n# just talk\nname,note\nx,\"a, \"\"b\"\"\nc\"\ny,\r\n", "f", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(table.remarks.at("batch").text, "128");
  EXPECT_EQ(table.column("note"), 1);
  EXPECT_EQ(table.column("nothing"), -1);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells[1].text, "a, \"b\"\nc");
  EXPECT_EQ(table.rows[1].cells[0].at.line, 6);
  EXPECT_EQ(table.rows[1].cells[1].text, "");
}

TEST(Csv, ReportsRaggedRowsOpenQuotesAndAMissingHeader) {
  Problems problems;
  parse_csv("a,b\n1\n1,2,3\n\"x", "f", problems);
  EXPECT_EQ(placed(problems),
            "2:1 syntax\n"
            "3:1 syntax\n"
            "4:1 syntax\n"  // the quote, and then the row
            "4:1 syntax");
  Problems none;
  parse_csv("# only talk\n", "f", none);
  EXPECT_EQ(placed(none), "1:1 missing");
}

TEST(Csv, CommentsAreOnlyAllowedBeforeTheHeader) {
  Problems problems;
  const CsvTable table = parse_csv("# a: 1\nname,note\n#1,x\n# b: 2\n", "f", problems);
  EXPECT_EQ(placed(problems), "4:1 syntax");
  EXPECT_EQ(table.remarks.size(), 1u);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].cells[0].text, "#1");
}

TEST(Csv, RefusesEqualColumnNames) {
  Problems problems;
  parse_csv("a,b,a\n", "f", problems);
  EXPECT_EQ(placed(problems), "1:5 duplicate a");
}

TEST(Csv, IsUtf8WithOrWithoutAMark) {
  Problems problems;
  const CsvTable table = parse_csv("\xEF\xBB\xBFname\né\n", "f", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(table.column("name"), 0);
  EXPECT_EQ(table.columns[0].at.column, 1);
  parse_csv("name\n\xe9\n", "f", problems);
  EXPECT_EQ(placed(problems), "2:1 syntax");
}

TEST(Csv, ReadsCellsThatItWrites) {
  for (const std::string text :
       {"plain", "with, comma", "\"quoted\"", "two\nlines", "a\rb", "\"", "", ",", "ends with\""}) {
    Problems problems;
    const CsvTable table = parse_csv("first,second\n1," + csv_cell(text) + "\n", "f", problems);
    ASSERT_TRUE(problems.empty()) << text;
    ASSERT_EQ(table.rows.size(), 1u) << text;
    EXPECT_EQ(table.rows[0].cells[1].text, text);
  }
  EXPECT_EQ(csv_cell("plain"), "plain");
}

TEST(Csv, StopsAfterTooManyErrors) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100'000; ++i) text += "1\n";
  Problems problems;
  parse_csv(text, "f", problems);
  EXPECT_EQ(problems.size(), 200u);
}

/// A cell takes forty bytes of memory, and one byte of a file can create a cell.
TEST(Csv, LimitsTheNumberOfCells) {
  Problems wide;
  const CsvTable one_line = parse_csv(std::string(20'000'000, ','), "f", wide);
  EXPECT_EQ(placed(wide), "1:1 too-large");
  EXPECT_TRUE(one_line.columns.empty());

  Problems long_row;
  const CsvTable uneven =
      parse_csv("a,b\n" + std::string(10'000'000, ','), "f", long_row, UnevenRows::kAreKept);
  EXPECT_TRUE(long_row.empty());
  ASSERT_EQ(uneven.uneven.size(), 1u);
  EXPECT_LE(uneven.uneven[0].cells.size(), 10'000u);

  std::string many = "a,b,c,d\n";
  for (int row = 0; row < 3'000'001; ++row) many += ",,,\n";
  Problems too_many;
  parse_csv(many, "f", too_many);
  EXPECT_EQ(placed(too_many), "3000001:1 too-large");
}

}  // namespace
}  // namespace tutti::core
