#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core {

/// Bytes that are read once, from the first to the last.
class ByteInput {
 public:
  virtual ~ByteInput() = default;
  /// Reads at most `most` bytes to `to`, and at least one unless the end is reached. ERRORS:
  /// unreadable; damaged gzip data.
  virtual Expected<std::size_t> read(char* to, std::size_t most) = 0;
  /// Share of the stored bytes that were read, 0 to 1; 0 if their number is not known.
  [[nodiscard]] virtual double share() const { return 0; }
};

/// Opens a file or a pipe. Content that begins as gzip is inflated, in members of any number. Reads
/// in bounded memory. ERRORS: missing, a folder, unreadable.
Expected<std::unique_ptr<ByteInput>> open_byte_input(const std::string& path);
/// The same for bytes in memory, which must outlive it; `name` is how errors call them.
std::unique_ptr<ByteInput> byte_input_of(std::string_view bytes, const std::string& name);

/// The first `most` bytes of a file, inflated: enough to recognise its format. ERRORS: as
/// open_byte_input.
Expected<std::string> first_bytes(const std::string& path, std::size_t most);

}  // namespace tutti::core
