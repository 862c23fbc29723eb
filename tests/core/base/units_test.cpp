#include "core/base/units.h"

#include <gtest/gtest.h>

#include "core/base/format.h"
#include "core/base/random.h"

namespace tutti::core {
namespace {

TEST(TransferTime, IsExactIfTheQuotientIsAWholeNumber) {
  EXPECT_EQ(transfer_time(Bytes(1), Bandwidth(25'000'000'000)), picoseconds(40));
  EXPECT_EQ(transfer_time(Bytes(8'388'608), Bandwidth(25'000'000'000)), picoseconds(335'544'320));
  EXPECT_EQ(transfer_time(Bytes(0), Bandwidth(1)), picoseconds(0));
}

TEST(TransferTime, RoundsUpToTheNextPicosecond) {
  EXPECT_EQ(transfer_time(Bytes(1), Bandwidth(3'000'000'000'000)), picoseconds(1));
  EXPECT_EQ(transfer_time(Bytes(1), Bandwidth(3)), picoseconds(333'333'333'334));
  EXPECT_EQ(transfer_time(Bytes(3), Bandwidth(3)), picoseconds(1'000'000'000'000));
}

TEST(TransferTime, TheFastPathAgreesWith128BitArithmetic) {
  Random random(7);
  for (int i = 0; i < 100'000; ++i) {
    const auto bytes = static_cast<std::int64_t>(random.next() >> (1 + random.below(62)));
    const auto rate = static_cast<std::int64_t>(1 + (random.next() >> (1 + random.below(62))));
    const Wide exact =
        (static_cast<Wide>(bytes) * kPicosecondsPerSecond + static_cast<Wide>(rate) - 1) /
        static_cast<Wide>(rate);
    const Wide longest = static_cast<Wide>(kLongestDuration.count());
    EXPECT_EQ(transfer_time(Bytes(bytes), Bandwidth(rate)),
              Time(static_cast<std::int64_t>(std::min(exact, longest))))
        << bytes << " bytes at " << rate;
  }
}

TEST(TransferTime, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(transfer_time(Bytes(std::int64_t{1} << 60), Bandwidth(1)), kLongestDuration);
}

TEST(Conversion, RoundsToTheNearestUnit) {
  EXPECT_EQ(time_from_us(1.5), nanoseconds(1'500));
  EXPECT_EQ(time_from_us(0.0000014), picoseconds(1));
  EXPECT_EQ(bandwidth_from_gb_per_s(25), Bandwidth(25'000'000'000));
  EXPECT_EQ(bandwidth_from_gb_per_s(23.283064365386963), Bandwidth(23'283'064'365));
}

TEST(Conversion, RoundsPartsPerMillion) {
  EXPECT_EQ(ppm_from_share(1), 1'000'000);
  EXPECT_EQ(ppm_from_share(0.35 / 100), 3'500);  // 3499.999… before rounding
  EXPECT_EQ(ppm_from_share(0), 0);
}

TEST(Show, ShowsThreeSignificantDigits) {
  EXPECT_EQ(show(picoseconds(0)), "0 s");
  EXPECT_EQ(show(picoseconds(999)), "999 ps");
  EXPECT_EQ(show(nanoseconds(1'234)), "1.23 µs");
  EXPECT_EQ(show(microseconds(999'600)), "1.00 s");
  EXPECT_EQ(show(milliseconds(444)), "444 ms");
  EXPECT_EQ(show(Bytes(999)), "999 B");
  EXPECT_EQ(show(Bytes(102'228'128)), "102 MB");
  EXPECT_EQ(show_exact(Bytes(26'214'400)), "25 MiB");
  EXPECT_EQ(show_exact(Bytes(65'537)), "65537 bytes");
  EXPECT_EQ(show_exact(Bytes(1)), "1 byte");
  EXPECT_EQ(show_exact(Bytes(0)), "0 bytes");
  EXPECT_EQ(show(Bandwidth(3'125'000'000)), "3.12 GB/s");
  EXPECT_EQ(show_share(0.5), "50.0 %");
  EXPECT_EQ(show_share(0.0001), "<0.1 %");
}

TEST(Show, DifferentTimesHaveDifferentTexts) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(show_distinct({milliseconds(112), milliseconds(113)}), (Texts{"112 ms", "113 ms"}));
  EXPECT_EQ(show_distinct({microseconds(112'040), microseconds(112'050), microseconds(112'040)}),
            (Texts{"112.04 ms", "112.05 ms", "112.04 ms"}));
  EXPECT_EQ(show_distinct({milliseconds(112), milliseconds(112)}), (Texts{"112 ms", "112 ms"}));
  // The number of digits is limited, so two nearly equal times may have the same text.
  EXPECT_EQ(show_distinct({milliseconds(112), milliseconds(112) + picoseconds(1)}),
            (Texts{"112.0000 ms", "112.0000 ms"}));
  EXPECT_EQ(show_distinct({}), Texts());
}

TEST(Random, GeneratesTheSameNumbersOnEveryPlatform) {
  Random random(42);
  EXPECT_EQ(random.next(), 13679457532755275413u);
  EXPECT_EQ(random.next(), 2949826092126892291u);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.below(7), 7u);
}

}  // namespace
}  // namespace tutti::core
