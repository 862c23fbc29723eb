#include "core/scenario/library.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/file.h"

namespace tutti::core {

namespace fs = std::filesystem;

namespace {

struct FilePattern {
  const char* folder;
  const char* ending;
};

FilePattern pattern_of(Library::Kind kind) {
  switch (kind) {
    case Library::Kind::kMachine: return {"machines", ".textproto"};
    case Library::Kind::kModel: return {"models", ".csv"};
    case Library::Kind::kLayerTimes: return {"layer_times", ".csv"};
    case Library::Kind::kLink: return {"links", ".textproto"};
    case Library::Kind::kAlgorithm: return {"algorithms", ".tutti-algorithm"};
    case Library::Kind::kCluster: break;
  }
  return {"", ""};
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

std::optional<std::string> Library::find(Kind kind, const std::string& name,
                                         const std::string& from) const {
  if (sent_) return std::nullopt;
  const fs::path path(name);
  if (kind == Kind::kCluster || name.find('/') != std::string::npos || path.has_extension()) {
    const fs::path file = path.is_absolute() ? path : fs::path(from).parent_path() / path;
    if (is_file(file)) return file.string();
  }
  if (kind == Kind::kCluster) return std::nullopt;
  const FilePattern pattern = pattern_of(kind);
  const fs::path shipped = fs::path(folder_) / pattern.folder / (name + pattern.ending);
  if (name.find("..") == std::string::npos && is_file(shipped)) return shipped.string();
  return std::nullopt;
}

Expected<std::optional<Library::File>> Library::read(Kind kind, const std::string& name,
                                                     const std::string& from) const {
  if (sent_) {
    const auto same = [&](const File& file) { return file.kind == kind && file.name == name; };
    const auto found = std::find_if(sent_->begin(), sent_->end(), same);
    return found == sent_->end() ? std::nullopt : std::optional(*found);
  }
  const auto path = find(kind, name, from);
  if (!path) return std::nullopt;
  Expected<std::string> text = read_text_file(*path);
  if (!text) return tl::make_unexpected(text.error());
  return File{kind, name, *path, std::move(*text)};
}

std::vector<std::string> Library::names(Kind kind) const {
  std::vector<std::string> names;
  if (sent_) return names;
  const FilePattern pattern = pattern_of(kind);
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(folder_) / pattern.folder, ignored)) {
    if (entry.path().extension() == pattern.ending) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti::core
