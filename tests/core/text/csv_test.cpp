#include "core/text/csv.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

TEST(Csv, ReadsRemarksHeaderAndQuotedCells) {
  Problems problems;
  const CsvTable table =
      parse_csv("# batch: 128\n# just talk\nname,note\nx,\"a, \"\"b\"\"\nc\"\ny,\r\n", "f", problems);
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
  EXPECT_EQ(problems.take().value().message(),
            "f:2:1: this row has 1 cells, the header has 2\n"
            "f:3:1: this row has 3 cells, the header has 2\n"
            "f:4:1: this quote is never closed\n"
            "f:4:1: this row has 1 cells, the header has 2");
  Problems none;
  parse_csv("# only talk\n", "f", none);
  EXPECT_EQ(none.take().value().message(), "f:1:1: there is no header line; the first line names the columns");
}

}  // namespace
}  // namespace tutti::core
