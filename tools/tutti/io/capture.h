#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/timeline/timeline.h"

namespace tutti::tools {

/// Replaces the terminal of a command that another program calls, such as the Python module: what
/// the command would print is stored here, and what it would read from files may come from memory.
struct Capture {
  // Given by the caller:
  /// Texts of scenarios, by the path that commands name.
  std::map<std::string, std::string> scenarios;
  const std::atomic<bool>* cancel = nullptr;  ///< set to interrupt the command, like Ctrl-C
  /// Called during long work with its name ("simulating") and the completed share, 0 … 1.
  std::function<void(std::string_view what, double share)> progress;
  /// Receives the timeline of a simulation or a run, with the detail that --record states.
  core::TimelineSink* timeline = nullptr;
  std::string program;  ///< path of the `tutti` program, for worker processes

  // Filled by the command:
  std::string out;                  ///< output to standard output
  std::string messages;             ///< output to standard error, without errors
  std::vector<core::Error> errors;  ///< errors that the command reports
};

/// While an object exists, commands that this thread calls use the capture. One per thread.
class Capturing {
 public:
  explicit Capturing(Capture& capture);
  ~Capturing();
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;
};

/// Returns the capture of the calling thread; null if the command has a terminal of its own.
Capture* capture();

}  // namespace tutti::tools
