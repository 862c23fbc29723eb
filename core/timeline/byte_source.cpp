#include "core/timeline/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/file.h"

namespace tutti::core {

namespace {

/// Reads a file with pread(), so that several threads can read at the same time.
class FileBytes : public ByteSource {
 public:
  FileBytes(int file, std::uint64_t size) : file_(file), size_(size) {}
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override { ::close(file_); }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const override {
    if (offset >= size_) return {};
    std::string bytes(static_cast<std::size_t>(std::min(count, size_ - offset)), '\0');
    std::size_t there = 0;
    while (there < bytes.size()) {
      const ssize_t got = ::pread(file_, bytes.data() + there, bytes.size() - there,
                                  static_cast<off_t>(offset + there));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      there += got;
    }
    bytes.resize(there);
    return bytes;
  }

 private:
  int file_;
  std::uint64_t size_;
};

class BytesInMemory : public ByteSource {
 public:
  explicit BytesInMemory(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const override {
    return offset >= bytes_.size() ? std::string()
                                   : bytes_.substr(offset, static_cast<std::size_t>(count));
  }

 private:
  std::string bytes_;
};

}  // namespace

Expected<std::shared_ptr<const ByteSource>> open_byte_source(const std::string& path) {
  if (const auto there = check_is_file(path, "a timeline"); !there)
    return tl::make_unexpected(there.error());
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    const int why = errno;
    if (file >= 0) ::close(file);
    return tl::make_unexpected(
        Error::request({why == ENOENT ? ProblemCode::kMissing : ProblemCode::kInvalid},
                       fmt::format("cannot be read: {}", std::strerror(why)), {path, 0, 0}));
  }
  return std::make_shared<const FileBytes>(
      file, static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size)));
}

std::shared_ptr<const ByteSource> byte_source_of(std::string bytes) {
  return std::make_shared<const BytesInMemory>(std::move(bytes));
}

std::string ReadAhead::read(std::uint64_t offset, std::uint64_t count) {
  constexpr std::uint64_t kPiece = 256 << 10;
  if (offset >= source_.size()) return {};
  count = std::min(count, source_.size() - offset);
  if (offset < piece_at_ || offset + count > piece_at_ + piece_.size()) {
    piece_ = source_.read(offset, std::max(count, kPiece));
    piece_at_ = offset;
  }
  return piece_.substr(offset - piece_at_, static_cast<std::size_t>(count));
}

}  // namespace tutti::core
