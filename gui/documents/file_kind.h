#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::gui {

enum class FileKind { kTimeline, kScenario, kSweep };

/// Returns the kind of a file. A file counts as a timeline if its content is that of a timeline or
/// its name ends in .tutti, and as a sweep if it is an SQLite database or its name ends in .sweep.
/// Any other file counts as a scenario (text). If a file is missing or cannot be read, its kind is
/// derived from its name alone. ERRORS: the path is a folder, a pipe or a device. Pipes and devices
/// are not read, since the read might block forever.
core::Expected<FileKind> file_kind(const std::string& path);

}  // namespace tutti::gui
