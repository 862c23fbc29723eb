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

/// Replaces the terminal and files when another program, such as the Python module, calls a command
/// of `tutti` in its own process. Stores the output of the command. Scenarios may come from memory
/// instead of files.
struct Capture {
  // Given by the caller:
  /// The texts of scenarios, indexed by the path in the command's arguments.
  std::map<std::string, std::string> scenarios;
  /// The caller sets this flag to interrupt the command, in the same way as Ctrl-C.
  const std::atomic<bool>* cancel = nullptr;
  /// Called during long work with the name of the work, such as "simulating", and the completed
  /// fraction, from 0 to 1.
  std::function<void(std::string_view what, double share)> progress;
  /// Receives the timeline of a simulation or a run, at the level of detail that --record
  /// specifies; null: none.
  core::TimelineSink* timeline = nullptr;
  std::string program;  ///< the path of the `tutti` program, for worker processes

  // Filled by the command:
  std::string out;                  ///< the output to standard output
  std::string messages;             ///< the output to standard error, without errors
  std::vector<core::Error> errors;  ///< the errors that the command reported
};

/// While an object of this class exists, commands that this thread calls use the capture. At most
/// one object of this class may exist per thread.
class Capturing {
 public:
  explicit Capturing(Capture& capture);
  ~Capturing();
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;
};

/// Returns the capture of the calling thread; null: the command uses the terminal.
Capture* capture();

}  // namespace tutti::tools
