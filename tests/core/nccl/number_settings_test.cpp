// Checks how NCCL interprets numbers that users set, according to getNthreads, ncclLoadParam and
// computeBuffSizes of its source.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/nccl/settings.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Settings set(const std::string& name, const std::string& value, Version version = kDefaultVersion) {
  const auto settings = read_settings({{name, value}}, version);
  EXPECT_TRUE(settings) << settings.error().message();
  return settings.value_or(Settings());
}

std::vector<std::string> refused(const std::string& name, const std::string& value) {
  return test::kinds_of(read_settings({{name, value}}, kDefaultVersion));
}

TEST(NumberSettings, ThreadsAreRoundedToWholeWarpsWithinLimits) {
  for (const std::int64_t threads : {64, 96, 256, 512}) {
    const Settings settings = set("NCCL_NTHREADS", std::to_string(threads));
    EXPECT_EQ(settings.threads, threads);
    EXPECT_THAT(settings.notes, IsEmpty());
  }
  const auto taken = [](const std::string& name, const std::string& value, std::int64_t threads,
                        const std::string& note) {
    const Settings settings = set(name, value);
    EXPECT_EQ(name == "NCCL_NTHREADS" ? settings.threads : settings.ll128_threads, threads)
        << value;
    EXPECT_THAT(settings.notes, ElementsAre(note));
  };
  taken("NCCL_NTHREADS", "100", 512, "NCCL_NTHREADS=100 is no multiple of 32: NCCL takes 512");
  taken("NCCL_NTHREADS", "1024", 512, "NCCL_NTHREADS=1024 is above 512: NCCL takes 512");
  taken("NCCL_NTHREADS", "32", 64, "NCCL_NTHREADS=32 is below 64: NCCL takes 64");
  taken("NCCL_LL128_NTHREADS", "128", 160, "NCCL_LL128_NTHREADS=128 is below 160: NCCL takes 160");
  taken("NCCL_LL128_NTHREADS", "1024", 640,
        "NCCL_LL128_NTHREADS=1024 is above 640: NCCL takes 640");
  taken("NCCL_NTHREADS", "0x100", 256, "NCCL_NTHREADS=0x100: NCCL reads 256");
  taken("NCCL_NTHREADS", "1k", 512,
        "NCCL_NTHREADS=1k, which NCCL reads as 1, is no multiple of 32: NCCL takes 512");
  // NCCL keeps the lower 32 bits.
  taken("NCCL_NTHREADS", "4294967552", 256, "NCCL_NTHREADS=4294967552: NCCL reads 256");
}

TEST(NumberSettings, InvalidThreadCountsMeanNcclsDefault) {
  for (const char* value : {"0", "-1", "abc", "", "99999999999999999999"}) {
    const Settings settings = set("NCCL_NTHREADS", value);
    EXPECT_EQ(settings.threads, std::nullopt) << value;
    EXPECT_EQ(settings.notes.size(), 1U) << value;
  }
}

TEST(NumberSettings, BufferSizesOutsideOfNcclsRangeAreUsedWithANote) {
  EXPECT_EQ(set("NCCL_BUFFSIZE", "8388608").buffer_bytes, 8388608);
  EXPECT_THAT(set("NCCL_BUFFSIZE", "8388608").notes, IsEmpty());
  EXPECT_EQ(set("NCCL_BUFFSIZE", "5000").buffer_bytes, 5000);
  EXPECT_THAT(set("NCCL_BUFFSIZE", "5000").notes, SizeIs(1));
  EXPECT_EQ(set("NCCL_BUFFSIZE", "0x400000").buffer_bytes, 4194304);
  EXPECT_EQ(set("NCCL_BUFFSIZE", "-2").buffer_bytes, std::nullopt);
  // NCCL cannot work with such values.
  for (const char* little : {"4M", "0", "-1", "4095"})
    EXPECT_THAT(refused("NCCL_BUFFSIZE", little), ElementsAre("too-small NCCL_BUFFSIZE")) << little;
  EXPECT_THAT(refused("NCCL_BUFFSIZE", "4096"), IsEmpty());
  EXPECT_THAT(refused("NCCL_BUFFSIZE", "4294967296"), ElementsAre("too-large NCCL_BUFFSIZE"))
      << "beyond 32 bits";
  EXPECT_THAT(refused("NCCL_LL128_BUFFSIZE", "8192"), ElementsAre("too-small NCCL_LL128_BUFFSIZE"));
  EXPECT_THAT(refused("NCCL_LL128_BUFFSIZE", "16384"), IsEmpty());
  EXPECT_EQ(set("NCCL_LL128_BUFFSIZE", "8192", {2, 21, 5}).ll128_buffer_bytes, 8192);
}

TEST(NumberSettings, Version2_6IgnoresTheBufferSizeOfLl) {
  const Settings settings = set("NCCL_LL_BUFFSIZE", "1048576", {2, 6, 4});
  EXPECT_EQ(settings.ll_buffer_bytes, std::nullopt);
  EXPECT_THAT(settings.notes, SizeIs(1));
  EXPECT_EQ(set("NCCL_LL_BUFFSIZE", "1048576", {2, 7, 8}).ll_buffer_bytes, 1048576);
}

}  // namespace
}  // namespace tutti::core::nccl
