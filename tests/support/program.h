#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti::test {

/// How a program ended and what it said.
struct Outcome {
  int status = -1;  ///< exit status; 128 + the signal's number if one ended it
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string folder{};          ///< the working folder; empty: the caller's
  std::string out_file{};        ///< where standard output goes instead of `Outcome::out`
  bool out_closed = false;       ///< standard output is a pipe whose reader is gone
  std::string interrupt_once{};  ///< send a signal as soon as this file holds something
  int interrupt_later_ms = 0;    ///< … and so long after that
  int signal = 2;                ///< which; SIGINT
  std::map<std::string, std::string>
      environment{};  ///< beside the caller's, without what launchers leave there
  int memory_mb = 0;  ///< the program may have no more than this, if not 0
};

/// Runs the tutti command with these arguments and waits for it. Throws if it cannot be started.
Outcome run_tutti(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// A fresh folder, gone with all its files when this goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Where a file of this name is or would be.
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and answers its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& content) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  /// The names of all files, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::string path_;
};

}  // namespace tutti::test
