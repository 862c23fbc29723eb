#include "real/process/core_wait.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace tutti::real {
namespace {

/// Restricts the calling thread to the first of its cores.
void keep_to_one_core() {
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    CPU_SET(core, &one);
    break;
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
}

TEST(CoreWait, MeasuresTheTimeInTheRunQueue) {
  if (::access("/proc/thread-self/schedstat", R_OK) != 0)
    GTEST_SKIP() << "this kernel does not count it";
  std::atomic<bool> over = false, there = false;
  std::thread other([&] {
    keep_to_one_core();
    for (there = true; !over;) {
    }
  });
  std::chrono::nanoseconds waited{}, again{};
  std::thread own([&] {
    keep_to_one_core();
    while (!there) ::sched_yield();
    CoreWait wait;
    for (int i = 0; i < 100; ++i) ::sched_yield();
    waited = wait.lap();
    again = wait.lap();
  });
  own.join();
  over = true;
  other.join();
  EXPECT_GT(waited.count(), 0);
  EXPECT_LT(again, waited) << "an interval starts at the end of the previous one";
}

}  // namespace
}  // namespace tutti::real
