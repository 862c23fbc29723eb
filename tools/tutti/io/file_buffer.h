#pragma once

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <streambuf>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::tools {

/// A stream buffer that writes to an open file descriptor and closes it at the end. Unlike
/// std::filebuf, this class stores the errno of the first failure, because errno itself may have
/// changed by the time the caller checks the stream. After a failure, all further output is
/// discarded, so that the file contains a prefix of the output without gaps.
class FileBuffer final : public std::streambuf {
 public:
  /// The type of the function write(2), which tests replace.
  using Write = std::function<ssize_t(int file, const void* bytes, std::size_t count)>;

  /// Takes ownership of the descriptor `file`.
  explicit FileBuffer(int file, Write write = ::write) : file_(file), write_(std::move(write)) {
    empty();
  }
  FileBuffer(const FileBuffer&) = delete;
  FileBuffer& operator=(const FileBuffer&) = delete;
  ~FileBuffer() override { close(); }

  /// Writes the buffered bytes and flushes the file to the disk, so that the bytes survive a power
  /// failure.
  void sync_to_disk() {
    if (file_ < 0 || sync() != 0) return;
    while (::fsync(file_) != 0) {
      if (errno != EINTR) return fail();
    }
  }
  /// Writes the buffered bytes and closes the file.
  void close() {
    if (file_ < 0) return;
    sync();
    if (::close(std::exchange(file_, -1)) != 0) fail();
  }
  /// Returns the errno of the first failure; 0 if everything was written.
  [[nodiscard]] int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

  int sync() override {
    std::string_view rest(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    while (!rest.empty() && error_ == 0) {
      const ssize_t written = write_(file_, rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(written);
      } else if (errno != EINTR) {
        fail();
      }
    }
    empty();
    return error_ == 0 ? 0 : -1;
  }

 private:
  void empty() { setp(held_.data(), held_.data() + held_.size()); }
  void fail() {
    if (error_ == 0) error_ = errno;
  }

  std::vector<char> held_ = std::vector<char>(std::size_t{1} << 16);
  int file_;
  Write write_;
  int error_ = 0;
};

}  // namespace tutti::tools
