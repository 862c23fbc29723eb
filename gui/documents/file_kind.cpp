#include "gui/documents/file_kind.h"

#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "core/explore/database.h"
#include "core/timeline/writer.h"

namespace tutti::gui {

core::Expected<FileKind> file_kind(const std::string& path) {
  if (const auto file = core::check_is_file(path, "a timeline, a scenario or a sweep"); !file)
    return tl::make_unexpected(file.error());
  std::string begin(std::string_view(core::kTimelineMagic).size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  const std::filesystem::path name(path);
  if (begin == core::kTimelineMagic) return FileKind::kTimeline;
  if (core::is_database(path) || name.extension() == ".sweep") return FileKind::kSweep;
  return name.extension() == ".tutti" ? FileKind::kTimeline : FileKind::kScenario;
}

}  // namespace tutti::gui
