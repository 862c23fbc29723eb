#include "tools/tutti/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace tutti::tools {

namespace fs = std::filesystem;

namespace {

/// Where a symbolic link leads, so that it goes on leading there; the path itself if it is none.
std::string followed(fs::path path) {
  std::error_code status;
  for (int links = 0; links < 40 && fs::is_symlink(path, status); ++links) {
    path = path.parent_path() / fs::read_symlink(path, status);
  }
  return path.string();
}

}  // namespace

core::Expected<OutputFile> OutputFile::create(const std::string& path, const std::vector<std::string>& inputs) {
  const auto refuse = [&path](const std::string& why) {
    return tl::make_unexpected(core::Error::request(why, {path, 0, 0}));
  };
  std::error_code status;
  for (const std::string& input : inputs) {
    if (fs::equivalent(path, input, status)) return refuse("this is the file to read from; name another one to write");
  }
  const fs::file_status target = fs::status(path, status);
  if (fs::is_directory(target)) return refuse("this is a folder; name a file to write");
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    std::ofstream device(path, std::ios::binary);
    if (!device) return refuse(fmt::format("cannot be written: {}", std::strerror(errno)));
    return OutputFile(path, "", std::move(device));
  }
  const std::string whole = followed(path);
  std::ofstream stream(whole + ".part", std::ios::binary | std::ios::trunc);
  if (!stream) return refuse(fmt::format("cannot be written: {}", std::strerror(errno)));
  return OutputFile(whole, whole + ".part", std::move(stream));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), part_(std::exchange(other.part_, "")), stream_(std::move(other.stream_)) {}

OutputFile::~OutputFile() {
  if (part_.empty()) return;
  stream_.close();
  std::remove(part_.c_str());
}

core::Expected<void> OutputFile::keep() {
  stream_.close();
  if (!stream_ || (!part_.empty() && std::rename(part_.c_str(), path_.c_str()) != 0)) {
    return tl::make_unexpected(core::Error::run(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno))));
  }
  part_.clear();
  return {};
}

}  // namespace tutti::tools
