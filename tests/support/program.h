#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti::test {

/// The exit status and the output of a program.
struct Outcome {
  int status = -1;  ///< exit status; 128 + the number of the signal that ended the program
  std::string out;
  std::string err;
};

struct RunOptions {
  std::string folder{};          ///< the working folder; empty: the caller's
  std::string out_file{};        ///< file for standard output, instead of `Outcome::out`
  bool out_closed = false;       ///< standard output is a pipe whose reading end is closed
  std::string interrupt_once{};  ///< send a signal as soon as this file is not empty
  int interrupt_later_ms = 0;    ///< delay of the signal after the file is not empty
  int signal = 2;                ///< the signal to send; default SIGINT
  /// Variables in addition to the caller's, without those of launchers.
  std::map<std::string, std::string> environment{};
  int memory_mb = 0;   ///< memory limit of the program; 0: none
  int open_files = 0;  ///< limit of the program's open files; 0: none
};

/// Runs the tutti command with these arguments, and waits until it has ended. Throws if the program
/// cannot be started.
Outcome run_tutti(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// A new folder, which the destructor removes with all its files.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the path of a file in the folder, which need not exist.
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file, and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& content) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  /// Returns the names of all files, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::string path_;
};

}  // namespace tutti::test
