// The search in sorted times must give the same results as std::lower_bound, for single times and
// for many at once.

#include "gui/trace/sorted_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/base/random.h"

namespace tutti::gui {
namespace {

using core::Random;

/// Returns times of which some are equal, with gaps of very different lengths.
std::vector<std::int64_t> random_times(Random& random, std::size_t count) {
  std::vector<std::int64_t> times;
  std::int64_t t = static_cast<std::int64_t>(random.below(50));
  for (std::size_t i = 0; i < count; ++i) {
    times.push_back(t);
    t += static_cast<std::int64_t>(random.below(3) == 0 ? 0 : random.below(1u << random.below(14)));
  }
  return times;
}

SortedTimes sorted(const std::vector<std::int64_t>& times) {
  SortedTimes made;
  for (const std::int64_t t : times) made.push_back(t);
  made.finish();
  return made;
}

TEST(SortedTimes, SearchMatchesLowerBound) {
  Random random(11);
  // The sizes are around those at which the index gets another level. Between two searched times
  // there are many or few others.
  for (const std::size_t count :
       {0u, 1u, 15u, 16u, 17u, 255u, 256u, 257u, 4095u, 4096u, 4097u, 70'000u}) {
    const std::vector<std::int64_t> times = random_times(random, count);
    const SortedTimes sought = sorted(times);
    const std::int64_t length = times.empty() ? 100 : times.back() + 10;
    for (const std::size_t many : {1u, 3u, 40u, 1000u}) {
      std::vector<std::int64_t> wanted(many);
      for (std::int64_t& t : wanted) {
        t = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(length)));
        if (count > 0 && random.below(2) == 0) t = times[random.below(count)];  // an existing time
      }
      std::sort(wanted.begin(), wanted.end());
      std::vector<SortedTimes::Index> places(many);
      sought.first_from_each(wanted, places);
      for (std::size_t i = 0; i < many; ++i) {
        const auto place = std::lower_bound(times.begin(), times.end(), wanted[i]) - times.begin();
        ASSERT_EQ(places[i], place) << count << " times, " << wanted[i];
        ASSERT_EQ(sought.first_from(wanted[i]), place) << count << " times, " << wanted[i];
      }
    }
  }
}

}  // namespace
}  // namespace tutti::gui
