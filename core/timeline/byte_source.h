#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The bytes of a timeline, by offset. Thread-safe for reading.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads `count` bytes from `offset` on, or as many of them as exist, and no others.
  [[nodiscard]] virtual std::string read(std::uint64_t offset, std::uint64_t count) const = 0;
};

/// Opens a file, which stays open for the lifetime of the source. ERRORS: missing, unreadable, not
/// a file (a folder, a pipe, …).
Expected<std::shared_ptr<const ByteSource>> open_byte_source(const std::string& path);
/// Returns a source for bytes in memory.
std::shared_ptr<const ByteSource> byte_source_of(std::string bytes);

/// Reads a source from front to back in large pieces, so that a file of very small blocks does not
/// need a system call for each. Only for reading in file order: with random access, every call
/// reads a whole piece.
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
