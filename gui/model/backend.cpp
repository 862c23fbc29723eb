#include "gui/model/backend.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tutti::gui {

std::string progress_text(const std::string& doing, double share, double seconds) {
  // Earlier than that what is left is a guess.
  constexpr double kLeastShare = 0.01, kLeastSeconds = 0.5;
  share = std::clamp(share, 0.0, 1.0);
  std::string text = fmt::format("{} {:.0f} %", doing, 100 * share);
  if (share < kLeastShare || seconds < kLeastSeconds) return text;
  const double left = std::ceil(seconds / share - seconds);
  if (left < 120) return text + fmt::format(", {:.0f} s left", left);
  if (left < 7200) return text + fmt::format(", {:.0f} min left", std::ceil(left / 60));
  return text + fmt::format(", {:.0f} h left", std::ceil(left / 3600));
}

}  // namespace tutti::gui
