#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// A source of the bytes of a timeline, with random access. Reading is thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Returns the `count` bytes that begin at `offset`, or fewer if the source ends before. No other
  /// bytes are read.
  [[nodiscard]] virtual std::string read(std::uint64_t offset, std::uint64_t count) const = 0;
};

/// Opens a file, which stays open as long as the source exists.
/// ERRORS: the path is missing, unreadable, or not a regular file (a folder, a pipe, …).
Expected<std::shared_ptr<const ByteSource>> open_byte_source(const std::string& path);
/// Returns a source for bytes in memory.
std::shared_ptr<const ByteSource> byte_source_of(std::string bytes);

/// Reads a source from front to back in large pieces, so that small blocks do not need a system
/// call each. Use this class only to read in file order. With random access, every call would read
/// a whole piece.
class ReadAhead {
 public:
  explicit ReadAhead(const ByteSource& source) : source_(source) {}
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count);

 private:
  const ByteSource& source_;
  std::string piece_;
  std::uint64_t piece_at_ = 0;
};

}  // namespace tutti::core
