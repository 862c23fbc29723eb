#include "tools/tutti/perf/perf_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<PerfColumn> columns() {
  std::vector<PerfColumn> columns = perf_columns_of_request();
  add_perf_half(columns, "out-of-place");
  add_perf_half(columns, "in-place");
  return columns;
}

const std::vector<std::string> kCells = {"1048576", "262144", "float", "sum", "-1",
                                         "98.78",   "10.62",  "19.90", "N/A", "99.00",
                                         "10.6",    "20",     "N/A"};

TEST(PerfColumns, MatchNcclTests) {
  const PerfColumns all(columns(), std::nullopt);
  EXPECT_EQ(
      all.titles(),
      "#\n"
      "#                                                                            out-of-place"
      "                            in-place\n"
      "#         size         count      type   redop   root       time    algbw    busbw #wrong"
      "       time    algbw    busbw #wrong\n"
      "#          (B)    (elements)                                (us)   (GB/s)   (GB/s)"
      "              (us)   (GB/s)   (GB/s)\n");
  EXPECT_EQ(
      all.row(kCells),
      "       1048576        262144     float     sum     -1      98.78    10.62    19.90    N/A"
      "      99.00     10.6       20    N/A\n");
}

TEST(PerfColumns, FitTheTerminalAndNameOmittedColumns) {
  for (const int room : {125, 124, 100, 80, 60}) {
    const PerfColumns some(columns(), room);
    EXPECT_LE(some.row(kCells).size(), room + 1u);
    const std::string titles = some.titles();
    EXPECT_EQ(titles.find("omitted") != std::string::npos, room < 125) << room;
    for (const char* kept : {"size", "time", "busbw", "out-of-place", "in-place"})
      EXPECT_THAT(titles, HasSubstr(kept));
  }
  const PerfColumns narrow(columns(), 100);
  EXPECT_THAT(narrow.titles(), HasSubstr("(--verbose shows all): count, root, #wrong\n"));
  EXPECT_THAT(narrow.row(kCells), Not(HasSubstr("262144")));
}

TEST(PerfColumns, ColumnsThatAreNeverOmittedMayExceedTheWidth) {
  const PerfColumns narrow(columns(), 10);
  EXPECT_THAT(narrow.row(kCells), testing::AllOf(HasSubstr("1048576"), HasSubstr("98.78")));
}

}  // namespace
}  // namespace tutti::tools
