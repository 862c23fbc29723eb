#pragma once

#include <string>

#include "core/base/error.h"

namespace tutti::gui {

enum class FileKind { kTimeline, kScenario, kSweep };

/// What a file is opened as: a timeline if it begins like one or is called .tutti; a sweep if it begins like an SQLite database or is
/// called .sweep; else a scenario, a text. A file that is not
/// there, or cannot be read, is what it is called.
/// ERRORS: a folder, a pipe, a device: nothing of them is read, since they may never answer.
core::Expected<FileKind> file_kind(const std::string& path);

}  // namespace tutti::gui
