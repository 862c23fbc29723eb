#include "core/base/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::core {
namespace {

double converted(const char* field, const char* written) {
  const auto number = in_unit_of(field, written);
  EXPECT_TRUE(number) << number.error();
  EXPECT_TRUE(number && *number) << written;
  return number && *number ? **number : -1;
}

TEST(Quantity, ConvertsToTheUnitOfTheField) {
  EXPECT_EQ(converted("bytes_per_pack", "25MiB"), 26214400);
  EXPECT_EQ(converted("agg_small_grads_max_bytes", "1.5KB"), 1500);
  EXPECT_EQ(converted("bytes", "3B"), 3);
  EXPECT_EQ(converted("latency_us", "1.5ms"), 1500);
  EXPECT_EQ(converted("latency_us", "100ns"), 0.1);
  EXPECT_EQ(converted("latency_us", "7us"), 7);
  EXPECT_EQ(converted("backward_ms", "20us"), 0.02);
  EXPECT_EQ(converted("bandwidth_gb_per_s", "25GB/s"), 25);
  EXPECT_EQ(converted("bandwidth_gb_per_s", "200Gbit/s"), 25);
  EXPECT_EQ(converted("bandwidth_gb_per_s", "1.2TB/s"), 1200);
  EXPECT_EQ(converted("latency_us", "-3us"), -3);
}

TEST(Quantity, ASpaceBeforeTheUnitIsRemoved) {
  EXPECT_EQ(without_space("25 MiB"), "25MiB");
  EXPECT_EQ(without_space("1.5 ms"), "1.5ms");
  for (const char* const text : {"25MiB", "25", "25 parsec", "25  MiB", " MiB", "x MiB", ""})
    EXPECT_EQ(without_space(text), text);
}

TEST(Quantity, ANumberWithoutAUnitIsNotAQuantity) {
  for (const char* written : {"25", "1e6", "", "MiB", "0x1F", "5f", "12 MiB", "5parsecs", "inf"}) {
    const auto number = in_unit_of("bytes_per_pack", written);
    ASSERT_TRUE(number) << written;
    EXPECT_FALSE(*number) << written;
  }
}

TEST(Quantity, RefusesUnitsOfAnotherKind) {
  EXPECT_EQ(in_unit_of("latency_us", "25MiB").error(),
            "25MiB is not a time, such as 500ns, 10us, 1.5ms or 2s");
  EXPECT_EQ(in_unit_of("bytes_per_pack", "25GB/s").error(),
            "25GB/s is not a size, such as 64KiB, 25MiB or 1GB");
  EXPECT_EQ(in_unit_of("shards", "4KiB").error(),
            "shards has no unit, so KiB cannot be converted; write a plain number");
  EXPECT_FALSE(in_unit_of("peak_tflops", "3s"));
}

TEST(Quantity, HintsCorrectMisspelledUnits) {
  EXPECT_EQ(quantity_hint("bytes_per_pack", "25mb"), "; did you mean 25MB?");
  EXPECT_EQ(quantity_hint("bytes_per_pack", "1.5mib"), "; did you mean 1.5MiB?");
  EXPECT_EQ(quantity_hint("bandwidth_gb_per_s", "100Gbps"), "; did you mean 100Gbit/s?");
  EXPECT_EQ(quantity_hint("bandwidth_gb_per_s", "100Gb/s"), "; did you mean 100Gbit/s?");
  EXPECT_EQ(quantity_hint("bandwidth_gb_per_s", "25gb/s"), "; did you mean 25GB/s?");
  EXPECT_EQ(quantity_hint("bandwidth_gb_per_s", "25mb"),
            "; write a rate, such as 25GB/s or 200Gbit/s");
  EXPECT_EQ(quantity_hint("latency_us", "fast"),
            "; write a time, such as 500ns, 10us, 1.5ms or 2s");
  EXPECT_EQ(quantity_hint("shards", "two"), "");
}

}  // namespace
}  // namespace tutti::core
