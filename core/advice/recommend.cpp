#include "core/advice/recommend.h"

#include <fmt/format.h>

#include "core/base/format.h"

namespace tutti::core {

Advice recommend(const Outcome& now, const Outcome& best) {
  Advice advice;
  if (now.step > Time())
    advice.gain = 1 - static_cast<double>(best.step.count()) / static_cast<double>(now.step.count());
  advice.least_gain = advice.gain * (1 - kGainError);
  if (advice.gain <= 0) {
    advice.why = "nothing that was tried is faster than what is there";
    return advice;
  }
  if (advice.gain < kVisibleShare) {
    advice.why = fmt::format(
        "{} is less than {}, by which settings differ in measurements that cost the same: nobody would notice",
        show_share(advice.gain), show_share(kVisibleShare));
    return advice;
  }
  advice.change = true;
  advice.why =
      advice.least_gain >= kVisibleShare
          ? fmt::format("even if half of the gain of {} does not come, it can be measured", show_share(advice.gain))
          : fmt::format("a gain of {} is more than measurements scatter ({}), but not by much: measure both",
                        show_share(advice.gain), show_share(kVisibleShare));
  return advice;
}

}  // namespace tutti::core
