#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The content of a text file of at most 64 MiB. ERRORS: missing, a folder, unreadable, too large.
Expected<std::string> read_text_file(const std::string& path);

}  // namespace tutti::core
