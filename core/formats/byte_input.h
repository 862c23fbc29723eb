#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core {

/// A stream of bytes that can be read once.
class ByteInput {
 public:
  virtual ~ByteInput() = default;
  /// Reads 1 to `most` bytes into `to`. Returns the number of bytes that were read; 0 at the end of
  /// the input. ERRORS: the input cannot be read; its gzip data is damaged.
  virtual Expected<std::size_t> read(char* to, std::size_t most) = 0;
  /// The share of the file that was read, from 0 to 1. For a compressed file, it is the share of
  /// the compressed bytes. The result is 0 if the size of the file is unknown.
  [[nodiscard]] virtual double share() const { return 0; }
};

/// Opens a file or a pipe. Gzip content, which may have several members, is inflated while it is
/// read, with a buffer of fixed size.
/// ERRORS: the file is missing, unreadable or a folder.
Expected<std::unique_ptr<ByteInput>> open_byte_input(const std::string& path);
/// Returns an input for bytes in memory. Error messages show `name` in place of a path.
/// REQUIRES: the bytes outlive the input.
std::unique_ptr<ByteInput> byte_input_of(std::string_view bytes, const std::string& name);

/// Returns all bytes of an input. `name` is the name of the input in the error message.
/// ERRORS: those of the input; the input has more than `most` bytes.
Expected<std::string> all_bytes(ByteInput& input, std::size_t most, const std::string& name);

/// Returns the first `most` bytes of a file's content; the content of a compressed file is
/// inflated. The first bytes are used to recognise the file's format. ERRORS: as for
/// open_byte_input(); the path is a pipe or a device, whose bytes cannot be read a second time.
Expected<std::string> first_bytes(const std::string& path, std::size_t most);

}  // namespace tutti::core
