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
  // A program that a user links with the installed libraries can be in any folder.
  for (const char* const folder : {TUTTI_SOURCE_DATA, TUTTI_INSTALLED_DATA, "/usr/share/tutti"}) {
    if (fs::is_directory(fs::path(folder) / "machines", status)) return folder;
  }
  return TUTTI_INSTALLED_DATA;
}

}  // namespace tutti::core
