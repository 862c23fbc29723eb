#include "tools/tutti/explore/explore.h"

#include <algorithm>
#include <thread>

#include "core/base/file.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

using core::Expected;

Expected<std::vector<core::Axis>> axes_of(const std::string& points,
                                          const std::vector<std::string>& over) {
  std::vector<core::Axis> axes;
  if (!points.empty()) {
    const auto text = core::read_text_file(points, core::TextSource::kAnything);
    if (!text) return failed(text);
    auto table = core::read_points(*text, points);
    if (!table) return failed(table);
    axes.push_back(std::move(*table));
  }
  for (const std::string& written : over) {
    auto axis = core::parse_axis("--over", written);
    if (!axis) return failed(axis);
    // An axis with one empty value would only remove the field, which is what --set is for.
    if (written.ends_with('='))
      return refused({core::ProblemCode::kMissing, "--over"},
                     "--over {}: the values are missing; expected values, such as 1,2,4 or 1..8*2 "
                     "(--set {} removes the field)",
                     written, written);
    axes.push_back(std::move(*axis));
  }
  return axes;
}

int threads_of(int requested) {
  return requested > 0 ? requested
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace tutti::tools
