#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "tools/tutti/io/file_buffer.h"

namespace tutti::tools {

/// An output file that gets its name only when it is complete. Until then, the content is written
/// to NAME.part in the same folder, and an existing file of the final name remains. If NAME.part
/// already exists, for example from an earlier run, the content is written to NAME.2.part, and so
/// on. The temporary file is removed in two cases: the object is destroyed without keep() or
/// leave(), or a signal that no Interrupt catches ends the program. Output to pipes and devices,
/// such as /dev/null, is written directly.
class OutputFile {
 public:
  /// Creates the temporary file. `inputs` are input files of the command in addition to those in
  /// io/input_files.h. An existing file is replaced only if it is empty or begins with `only_over`.
  /// ERRORS: the path is one of the inputs, an existing file that must not be replaced, or a
  /// folder; the file cannot be created.
  static core::Expected<OutputFile> create(const std::string& path,
                                           const std::vector<std::string>& inputs,
                                           std::string_view only_over = "");
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] std::ostream& stream() { return *stream_; }
  /// Completes the file, flushes it to the disk, and renames it to its final name. ERRORS (kRun):
  /// the disk is full; the file cannot be renamed.
  core::Expected<void> keep();
  /// Keeps the temporary file of an output that cannot be completed, and returns the file's name;
  /// returns an empty name for a pipe or a device.
  std::string leave();

 private:
  OutputFile(std::string path, std::string part, int file)
      : path_(std::move(path)),
        part_(std::move(part)),
        buffer_(std::make_unique<FileBuffer>(file)),
        stream_(std::make_unique<std::ostream>(buffer_.get())) {}

  std::string path_;
  /// The temporary file; empty after keep() or a move, and for pipes and devices.
  std::string part_;
  std::unique_ptr<FileBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// Writes a complete file. ERRORS: those of OutputFile::create() and OutputFile::keep().
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::function<void(std::ostream&)>& write);
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& text);

/// An option that names an output file. The path "" does not name a file.
struct NamedOutput {
  const char* option;
  const std::string& path;
  bool or_stdout = false;  ///< true: "-" is standard output
};
/// Returns an error if `path` is "-". For outputs that cannot be written to standard output.
core::Expected<void> check_not_stdout(const std::string& path);
/// Checks that no two outputs are the same file. Devices may be shared. ERRORS (kConflict, about
/// the later option): two outputs are the same file.
core::Expected<void> check_distinct(std::initializer_list<NamedOutput> outputs);

/// Checks before a long computation that its outputs can be written: they are distinct, are not
/// input files, and can be created. Existing files are not changed. ERRORS (requests, about the
/// option): an output cannot be written.
core::Expected<void> check_outputs(std::initializer_list<NamedOutput> outputs);

/// Removes the incomplete file, if there is one. For signal handlers that end the program.
void remove_unfinished_file();

}  // namespace tutti::tools
