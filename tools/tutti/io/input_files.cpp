#include "tools/tutti/io/input_files.h"

#include <sys/stat.h>

#include <optional>
#include <set>
#include <utility>

namespace tutti::tools {
namespace {

/// Identifies a file independently of its names.
using FileId = std::pair<dev_t, ino_t>;

std::set<FileId>& inputs() {
  thread_local std::set<FileId> files;
  return files;
}

std::optional<FileId> id_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileId(status.st_dev, status.st_ino);
}

}  // namespace

void clear_input_files() { inputs().clear(); }

void add_input_file(const std::string& path) {
  if (const auto id = id_of(path)) inputs().insert(*id);
}

bool is_input_file(const std::string& path) {
  if (inputs().empty()) return false;
  const auto id = id_of(path);
  return id && inputs().contains(*id);
}

}  // namespace tutti::tools
