// MaybeGzip reads from another input (a file or memory) and inflates the bytes if they begin with
// gzip's magic number. Format readers therefore need not know whether a file is compressed.
// MaybeGzip buffers one block of 64 KiB, so memory does not depend on the size of the file. The
// bytes of the buffer from `held_begin_` to `held_end_` have not been used yet. A gzip file may
// have several members, as `cat a.gz b.gz` produces. After the end of a member, the byte 0x1f
// begins another member, and any other byte begins padding, which is ignored. A file that ends
// inside a member is an error, because it may be an incomplete copy of a longer file.

#include "core/formats/byte_input.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

namespace tutti::core {
namespace {

/// The maximum size of inflated bytes relative to the compressed bytes, for files that inflate to
/// more than kMaxInflated bytes. Traces inflate to 10 to 50 times their size; gzip can reach 1,032
/// times. The limit bounds the time for reading a file by the size of the file.
constexpr double kMaxInflation = 250;
constexpr double kMaxInflated = 256.0 * 1024 * 1024;

tl::unexpected<Error> unreadable(const std::string& path, int why) {
  return tl::make_unexpected(
      Error::request({why == ENOENT ? ProblemCode::kMissing : ProblemCode::kInvalid},
                     fmt::format("cannot be read: {}", std::strerror(why)), {path, 0, 0}));
}

class FileInput final : public ByteInput {
 public:
  FileInput(std::FILE* file, std::string path, double size)
      : file_(file), path_(std::move(path)), size_(size) {}
  ~FileInput() override { std::fclose(file_); }
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;

  Expected<std::size_t> read(char* to, std::size_t most) override {
    const std::size_t got = std::fread(to, 1, most, file_);
    if (got == 0 && std::ferror(file_) != 0) return unreadable(path_, errno);
    read_ += static_cast<double>(got);
    return got;
  }
  [[nodiscard]] double share() const override {
    return size_ > 0 ? std::min(1.0, read_ / size_) : 0;
  }

 private:
  std::FILE* file_;
  std::string path_;
  double size_;
  double read_ = 0;
};

class MemoryInput final : public ByteInput {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

  Expected<std::size_t> read(char* to, std::size_t most) override {
    const std::size_t got = std::min(most, bytes_.size());
    std::copy_n(bytes_.data(), got, to);
    bytes_.remove_prefix(got);
    return got;
  }
  [[nodiscard]] double share() const override {
    return size_ == 0 ? 1 : 1 - static_cast<double>(bytes_.size()) / static_cast<double>(size_);
  }

 private:
  std::string_view bytes_;
  std::size_t size_;
};

/// Passes bytes through unchanged, or inflates them if they begin with gzip's magic number.
class MaybeGzip final : public ByteInput {
 public:
  MaybeGzip(std::unique_ptr<ByteInput> from, std::string name)
      : from_(std::move(from)), name_(std::move(name)) {}
  ~MaybeGzip() override {
    if (inflating_) inflateEnd(&stream_);
  }
  MaybeGzip(const MaybeGzip&) = delete;
  MaybeGzip& operator=(const MaybeGzip&) = delete;

  Expected<std::size_t> read(char* to, std::size_t most) override {
    if (!began_) {
      if (auto begun = begin(); !begun) return tl::make_unexpected(begun.error());
    }
    if (inflating_) return inflated(to, most);
    if (held_begin_ < held_end_) {
      const std::size_t got = std::min(most, held_end_ - held_begin_);
      std::copy_n(held_.data() + held_begin_, got, to);
      held_begin_ += got;
      return got;
    }
    return from_->read(to, most);
  }
  [[nodiscard]] double share() const override { return from_->share(); }

 private:
  Expected<void> begin() {
    began_ = true;
    held_.resize(std::size_t{1} << 16);
    // Read until two bytes are available, because a pipe may return them in separate reads.
    while (held_end_ < 2) {
      const auto got = from_->read(held_.data() + held_end_, held_.size() - held_end_);
      if (!got) return tl::make_unexpected(got.error());
      if (*got == 0) break;
      held_end_ += *got;
    }
    if (held_end_ < 2 || held_[0] != '\x1f' || held_[1] != '\x8b') return {};
    constexpr int kGzip = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzip) != Z_OK)
      return tl::make_unexpected(Error::run("zlib cannot be initialised: out of memory"));
    inflating_ = true;
    return {};
  }

  Expected<void> refill() {
    const auto got = from_->read(held_.data(), held_.size());
    if (!got) return tl::make_unexpected(got.error());
    before_held_ += held_end_;
    held_begin_ = 0;
    held_end_ = *got;
    return {};
  }

  Expected<std::size_t> inflated(char* to, std::size_t most) {
    while (true) {
      if (held_begin_ == held_end_) {
        if (auto done = refill(); !done) return tl::make_unexpected(done.error());
        if (held_end_ == 0) {
          if (member_ended_) return 0;
          return damaged("is truncated: it ends in the middle of its gzip data");
        }
      }
      if (member_ended_) {
        // A member is followed by another member or by padding. Ignore padding, as gzip does.
        if (held_[held_begin_] != '\x1f') return 0;
        inflateReset(&stream_);
        member_ended_ = false;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(held_.data() + held_begin_);
      stream_.avail_in = static_cast<uInt>(held_end_ - held_begin_);
      stream_.next_out = reinterpret_cast<Bytef*>(to);
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, std::size_t{1} << 30));
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      held_begin_ = held_end_ - stream_.avail_in;
      inflated_bytes_ += static_cast<double>(room - stream_.avail_out);
      if (inflated_bytes_ > kMaxInflated &&
          inflated_bytes_ > kMaxInflation * static_cast<double>(before_held_ + held_begin_))
        return too_large();
      if (status == Z_STREAM_END) {
        member_ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return damaged(fmt::format("holds damaged gzip data ({})",
                                   stream_.msg != nullptr ? stream_.msg : "zlib"));
      }
      // zlib may consume input without producing output. Continue in this case, because returning 0
      // bytes would mean the end of the input.
      if (stream_.avail_out < room) return room - stream_.avail_out;
    }
  }

  tl::unexpected<Error> too_large() const {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kTooLarge},
        fmt::format("the compressed file inflates to more than {:.0f} times its size, which traces "
                    "do not; to read it anyway, decompress it with gunzip",
                    kMaxInflation),
        {name_, 0, 0}));
  }

  tl::unexpected<Error> damaged(const std::string& what) const {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kSyntax},
        fmt::format("byte {}: the file {}; copy it again, or wait until it is complete",
                    before_held_ + held_begin_, what),
        {name_, 0, 0}));
  }

  std::unique_ptr<ByteInput> from_;
  std::string name_;
  std::vector<char> held_;
  std::size_t held_begin_ = 0, held_end_ = 0;
  std::size_t before_held_ = 0;  ///< number of bytes of the file before the bytes in `held_`
  double inflated_bytes_ = 0;
  bool began_ = false, inflating_ = false, member_ended_ = false;
  z_stream stream_{};
};

}  // namespace

Expected<std::unique_ptr<ByteInput>> open_byte_input(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    return tl::make_unexpected(Error::request({ProblemCode::kWrongType},
                                              "this is a folder; name the files in this folder",
                                              {path, 0, 0}));
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return unreadable(path, errno);
  const bool regular = std::filesystem::is_regular_file(path, status);
  const auto size = regular ? std::filesystem::file_size(path, status) : 0;
  auto input = std::make_unique<FileInput>(file, path, static_cast<double>(size));
  return std::make_unique<MaybeGzip>(std::move(input), path);
}

std::unique_ptr<ByteInput> byte_input_of(std::string_view bytes, const std::string& name) {
  return std::make_unique<MaybeGzip>(std::make_unique<MemoryInput>(bytes), name);
}

Expected<std::string> all_bytes(ByteInput& input, std::size_t most, const std::string& name) {
  std::string bytes;
  std::vector<char> piece(std::size_t{1} << 16);
  while (true) {
    const auto got = input.read(piece.data(), piece.size());
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) return bytes;
    bytes.append(piece.data(), *got);
    if (bytes.size() > most)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kTooLarge},
          fmt::format("this file is longer than the limit of {} bytes", most), {name, 0, 0}));
  }
}

Expected<std::string> first_bytes(const std::string& path, std::size_t most) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && std::filesystem::is_other(status))
    return tl::make_unexpected(Error::request({ProblemCode::kWrongType},
                                              "the format of a pipe or device cannot be recognised "
                                              "without reading the data; save the data in a file",
                                              {path, 0, 0}));
  const auto input = open_byte_input(path);
  if (!input) return tl::make_unexpected(input.error());
  std::string bytes(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const auto got = (*input)->read(bytes.data() + have, most - have);
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    have += *got;
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace tutti::core
