#include "core/base/file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace tutti::core {

namespace fs = std::filesystem;

Expected<void> check_is_file(const std::string& path, const std::string& wanted) {
  std::error_code status;
  const char* is = nullptr;
  switch (fs::status(path, status).type()) {
    case fs::file_type::directory: is = "a folder"; break;
    case fs::file_type::fifo: is = "a pipe"; break;
    case fs::file_type::socket: is = "a socket"; break;
    case fs::file_type::block:
    case fs::file_type::character: is = "a device"; break;
    default: return {};
  }
  return tl::make_unexpected(Error::request(
      {ProblemCode::kWrongType},
      fmt::format("this is {}; expected a regular file with {}", is, wanted), {path, 0, 0}));
}

Expected<std::string> read_text_file(const std::string& path, TextSource source) {
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  const auto fail = [&path](ProblemCode code, const std::string& text) {
    return tl::make_unexpected(Error::request({code}, text, {path, 0, 0}));
  };
  const auto unreadable = [&fail] {
    const int why = errno;
    return fail(why == ENOENT ? ProblemCode::kMissing : ProblemCode::kInvalid,
                fmt::format("cannot be read: {}", std::strerror(why)));
  };
  if (path.empty()) return fail(ProblemCode::kMissing, "the name of a file is empty");
  std::error_code status;
  if (source == TextSource::kFile) {
    if (const auto file = check_is_file(path, "a text"); !file)
      return tl::make_unexpected(file.error());
  } else if (fs::is_directory(path, status)) {
    return fail(ProblemCode::kWrongType, "this is a folder; expected a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable();
  // Read the file piece by piece, because a device or a pipe has no known size and may never end.
  std::string content;
  std::vector<char> piece(std::size_t{1} << 16);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    content.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (content.size() > kLargest)
      return fail(ProblemCode::kTooLarge,
                  fmt::format("this file is longer than the limit of {} bytes", kLargest));
  }
  if (file.bad()) return unreadable();
  return content;
}

}  // namespace tutti::core
