#include "tools/tutti/explore.h"

#include <algorithm>
#include <thread>

#include "core/base/file.h"
#include "tools/tutti/output_file.h"

namespace tutti::tools {

using core::Expected;

Expected<std::vector<core::Axis>> axes_of(const std::string& points, const std::vector<std::string>& over) {
  std::vector<core::Axis> axes;
  if (!points.empty()) {
    const auto text = core::read_text_file(points, core::TextSource::kAnything);
    if (!text) return tl::make_unexpected(text.error());
    auto table = core::read_points(*text, points);
    if (!table) return tl::make_unexpected(table.error());
    axes.push_back(std::move(*table));
  }
  for (const std::string& written : over) {
    auto axis = core::parse_axis("--over", written);
    if (!axis) return tl::make_unexpected(axis.error());
    axes.push_back(std::move(*axis));
  }
  return axes;
}

Expected<std::vector<core::Override>> settings_of(const std::vector<std::string>& set) {
  std::vector<core::Override> made;
  for (const std::string& written : set) {
    auto parsed = core::parse_override("--set", written);
    if (!parsed) return tl::make_unexpected(parsed.error());
    made.push_back(std::move(*parsed));
  }
  return made;
}

Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                          const std::function<void(std::ostream&)>& write) {
  auto file = OutputFile::create(path, inputs);
  if (!file) return tl::make_unexpected(file.error());
  write(file->stream());
  return file->keep();
}

int threads_of(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace tutti::tools
