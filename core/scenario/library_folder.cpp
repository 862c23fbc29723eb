#include "core/scenario/library_folder.h"

#include <cstdlib>
#include <filesystem>

namespace tutti::core {

namespace fs = std::filesystem;

std::string library_folder() {
  if (const char* folder = std::getenv("TUTTI_DATA"); folder && *folder) return folder;
  std::error_code status;
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  if (!status) {
    const fs::path installed = program.parent_path().parent_path() / "share" / "tutti";
    if (fs::is_directory(installed / "machines", status)) return installed.string();
  }
  return TUTTI_SOURCE_DATA;
}

}  // namespace tutti::core
