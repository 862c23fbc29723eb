#include "core/advice/recommend.h"

#include <fmt/format.h>

#include "core/base/format.h"

namespace tutti::core {

Advice recommend(const Outcome& now, const Outcome& best) {
  Advice advice;
  if (now.step > Time())
    advice.gain =
        1 - static_cast<double>(best.step.count()) / static_cast<double>(now.step.count());
  advice.min_gain = advice.gain - kDifferenceError;
  advice.change = advice.min_gain > 0;
  if (advice.gain <= 0) {
    advice.why = "none of the settings that were tried is faster than the current setting";
  } else if (!advice.change) {
    advice.why =
        fmt::format("the predicted gain of {} is less than the error of predicted gains ({})",
                    show_share(advice.gain), show_share(kDifferenceError));
  } else {
    advice.why = fmt::format(
        "the predicted gain of {0} exceeds the error of predicted gains ({2}) by {1}",
        show_share(advice.gain), show_share(advice.min_gain), show_share(kDifferenceError));
  }
  return advice;
}

}  // namespace tutti::core
