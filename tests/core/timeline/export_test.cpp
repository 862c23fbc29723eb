// Exports timelines as CSV tables and as pictures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/timeline/export_csv.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"
#include "tests/core/timeline/written_timeline.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

TEST(Csv, HasEveryTable) {
  const auto reader = TimelineReader::from_bytes(written(3), "t");
  const auto table = [&](const char* name) {
    std::ostringstream out;
    EXPECT_TRUE(export_csv(*reader, *parse_csv_content(name), out));
    return out.str();
  };
  EXPECT_THAT(table("spans"), HasSubstr("w2/gpu0,packs,4,,"));
  EXPECT_THAT(table("spans"), HasSubstr(",w1/gpu0,0,2\n")) << "the sender's lane and step";
  EXPECT_EQ(table("packs"),
            "training_step,pack,bytes,gradients,ready_us,first_start_us,last_start_us,end_us\n"
            "0,1,7,1,0.000010,0.000011,0.000012,0.000013\n");
  EXPECT_THAT(table("steps"), HasSubstr("0,0.000000,0.000500,w0/gpu0,0.000001,"));
  EXPECT_THAT(table("links"), HasSubstr("a→b,nvlink,1,6,0.006000"));
  EXPECT_THAT(table("path"), HasSubstr("pack in flight,w0/gpu0,0,last,0.000000,0.000077,"));
  EXPECT_FALSE(parse_csv_content("trains"));
}

TEST(Svg, NeedsSomethingToDraw) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin(made_run());
  writer.end();
  EXPECT_THAT(test::kinds_of(export_svg(*TimelineReader::from_bytes(out.str(), "t"))),
              testing::ElementsAre("missing"));
  EXPECT_THAT(*export_svg(*TimelineReader::from_bytes(written(5), "t")),
              HasSubstr("critical path"));
}

}  // namespace
}  // namespace tutti::core
