#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// What texts are read from.
enum class TextSource {
  kFile,     ///< files alone: whoever has other things to do cannot wait for what a pipe may never hold
  kAnything  ///< pipes and devices, too: what a person names on the command line, such as /dev/stdin or <(…)
};

/// The content of a text of at most 64 MiB. ERRORS: missing, a folder, unreadable, too large; no file (kFile).
Expected<std::string> read_text_file(const std::string& path, TextSource source = TextSource::kFile);

/// Nothing, if the path is that of a file, or of nothing at all (whoever opens it then tells why it cannot be read).
/// ERRORS: a folder, a pipe, a device or a socket, which is told; `wanted`: "a timeline".
Expected<void> check_is_file(const std::string& path, const std::string& wanted);

}  // namespace tutti::core
