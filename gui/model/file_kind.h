#pragma once

#include <string>

namespace tutti::gui {

enum class FileKind { kTimeline, kScenario };

/// What a file is opened as: a timeline if it begins like one or is called .tutti; else a scenario, a text. A file that is not
/// there, or cannot be read, is what it is called.
FileKind file_kind(const std::string& path);

}  // namespace tutti::gui
