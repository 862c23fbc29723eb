#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The kinds of files from which a text may be read.
enum class TextSource {
  kFile,     ///< regular files only, for callers that must not block on a pipe
  kAnything  ///< any file, including pipes and devices, such as /dev/stdin or <(…) on the command
             ///< line
};

/// Returns the content of a text file. ERRORS: the file is missing, unreadable, a folder or larger
/// than 64 MiB; with kFile, the file is a pipe, device or socket.
Expected<std::string> read_text_file(const std::string& path,
                                     TextSource source = TextSource::kFile);

/// Checks that the path names a regular file. A path that does not exist is accepted, because
/// opening the file then fails with a clear error. ERRORS: the path names a folder, pipe, device or
/// socket. The error message says which of these was found, and that a file with `wanted` (such as
/// "a timeline") was expected.
Expected<void> check_is_file(const std::string& path, const std::string& wanted);

}  // namespace tutti::core
