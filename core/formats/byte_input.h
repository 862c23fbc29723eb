#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core {

/// A sequential input of bytes, which can be read once.
class ByteInput {
 public:
  virtual ~ByteInput() = default;
  /// Reads at most `most` bytes into `to`, and at least one unless the end is reached. ERRORS:
  /// unreadable; damaged gzip data.
  virtual Expected<std::size_t> read(char* to, std::size_t most) = 0;
  /// The share of the stored bytes that was read, 0 to 1; 0 if their number is unknown.
  [[nodiscard]] virtual double share() const { return 0; }
};

/// Opens a file or a pipe. Gzip content is inflated; it may have several members. It needs a
/// bounded amount of memory. ERRORS: missing, a folder, unreadable.
Expected<std::unique_ptr<ByteInput>> open_byte_input(const std::string& path);
/// Returns an input for bytes in memory, which must outlive it; errors use `name`.
std::unique_ptr<ByteInput> byte_input_of(std::string_view bytes, const std::string& name);

/// Returns the first `most` bytes of a file, inflated: enough to recognise its format. ERRORS: as
/// open_byte_input; a pipe or a device, since nobody could read these bytes again.
Expected<std::string> first_bytes(const std::string& path, std::size_t most);

}  // namespace tutti::core
