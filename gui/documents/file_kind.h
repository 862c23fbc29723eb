#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::gui {

enum class FileKind { kTimeline, kScenario, kSweep };

/// Returns how to open a file: as a timeline if it begins like one or ends in .tutti; as a sweep if
/// it begins like an SQLite database or ends in .sweep; else as a scenario (text). A file that is
/// missing or cannot be read is judged by its name.
/// ERRORS: the path is a folder, a pipe or a device. These are not read, since the read might block
/// forever.
core::Expected<FileKind> file_kind(const std::string& path);

}  // namespace tutti::gui
