#include "gui/model/file_kind.h"

#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "core/timeline/writer.h"

namespace tutti::gui {

core::Expected<FileKind> file_kind(const std::string& path) {
  if (const auto file = core::check_is_file(path, "a timeline or a scenario"); !file)
    return tl::make_unexpected(file.error());
  std::string begin(std::string_view(core::kTimelineMagic).size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  const std::filesystem::path name(path);
  const bool timeline = begin == core::kTimelineMagic || name.extension() == ".tutti";
  return timeline ? FileKind::kTimeline : FileKind::kScenario;
}

}  // namespace tutti::gui
