#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The kinds of files that a text may be read from.
enum class TextSource {
  kFile,     ///< regular files only, for callers that must not block on a pipe
  kAnything  ///< pipes and devices too, such as /dev/stdin or <(…) on the command line
};

/// Returns the content of a text of at most 64 MiB. ERRORS: missing, a folder, unreadable, too
/// large; not a regular file (kFile).
Expected<std::string> read_text_file(const std::string& path,
                                     TextSource source = TextSource::kFile);

/// Succeeds if the path is that of a regular file, or does not exist (opening it then reports why).
/// ERRORS: a folder, a pipe, a device or a socket; the message names it and what was expected
/// (`wanted`: "a timeline").
Expected<void> check_is_file(const std::string& path, const std::string& wanted);

}  // namespace tutti::core
