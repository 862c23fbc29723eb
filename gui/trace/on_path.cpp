#include "gui/trace/on_path.h"

#include <algorithm>

namespace tutti::gui {

bool is_on_path(const std::vector<OnPath>& parts, const SpanRow& spans, SpanRow::Index i) {
  const core::Time start = spans.start(i), end = spans.end(i);
  auto part = std::lower_bound(parts.begin(), parts.end(), start,
                               [](const OnPath& p, core::Time t) { return p.at.to <= t; });
  for (; part != parts.end() && part->at.from < end; ++part) {
    if (part->kind == spans.kind(i) && (part->pack < 0 || part->pack == spans.pack(i))) return true;
  }
  return false;
}

}  // namespace tutti::gui
