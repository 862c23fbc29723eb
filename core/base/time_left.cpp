#include "core/base/time_left.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tutti::core {

std::string TimeLeft::text(double share, double seconds) {
  // If less than this share of the work is done, or less than this time has passed, no remaining
  // time is shown, because an estimate would be a guess.
  constexpr double kMinShare = 0.01, kMinSeconds = 0.5;
  share = std::clamp(share, 0.0, 1.0);
  if (share != share_) {
    share_ = share;
    seconds_ = seconds;
  }
  std::string text = fmt::format("{:.0f} %", 100 * share);
  if (share < kMinShare || seconds < kMinSeconds) return text;
  const double left = seconds_ / share - seconds;
  if (left <= 0) return text;
  if (left < 120) return text + fmt::format(", {:.0f} s left", std::ceil(left));
  if (left < 7200) return text + fmt::format(", {:.0f} min left", std::ceil(left / 60));
  return text + fmt::format(", {:.0f} h left", std::ceil(left / 3600));
}

}  // namespace tutti::core
