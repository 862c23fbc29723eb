#include "gui/traffic/link_load.h"

#include <algorithm>
#include <cmath>

namespace tutti::gui {

using core::Time;

double load_of(const core::LinkRecord& link, Time from, Time to) {
  const double bin = static_cast<double>(link.bin_width.count());
  const double most = bin * static_cast<double>(link.bandwidth.count()) / 1e12;
  if (link.bins.empty() || bin <= 0 || most <= 0) return 0;
  const double begin = static_cast<double>(from.count()) / bin;
  const double end = static_cast<double>(to.count()) / bin;
  double bytes = 0;
  const auto last = std::min(link.bins.size(), static_cast<std::size_t>(std::ceil(end)));
  for (auto b = static_cast<std::size_t>(begin); b < last; ++b) {
    const double start = static_cast<double>(b);
    bytes +=
        static_cast<double>(link.bins[b]) * (std::min(end, start + 1) - std::max(begin, start));
  }
  return std::clamp(bytes / (most * (end - begin)), 0.0, 1.0);
}

double load_at(const core::LinkRecord& link, Time t) {
  if (link.bin_width <= Time() || t < Time() || link.bandwidth.count() <= 0) return 0;
  const auto bin = static_cast<std::size_t>(t / link.bin_width);
  if (bin >= link.bins.size()) return 0;
  const double most = static_cast<double>(link.bin_width.count()) *
                      static_cast<double>(link.bandwidth.count()) / 1e12;
  return std::clamp(static_cast<double>(link.bins[bin]) / most, 0.0, 1.0);
}

}  // namespace tutti::gui
