#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::gui {

enum class FileKind { kTimeline, kScenario, kSweep };

/// Returns the kind of a file. A timeline has the content of a timeline, or its name ends in
/// .tutti. A sweep is an SQLite database, or its name ends in .sweep. All other files are scenarios
/// (text). The kind of a file that is missing or cannot be read depends only on its name.
/// ERRORS: the path is a folder, a pipe or a device. Pipes and devices are not read, since the read
/// might block forever.
core::Expected<FileKind> file_kind(const std::string& path);

}  // namespace tutti::gui
