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

/// A file that appears under its name only when it is complete. Until then its content is written
/// to NAME.part next to it (or NAME.2.part, … if that exists: it may be all that is left of an
/// earlier run), and an existing file stays. If it is destroyed without keep() or leave(), or a
/// signal ends the program and no Interrupt catches it, nothing is left behind. Pipes and devices,
/// such as /dev/null, are written to directly.
class OutputFile {
 public:
  /// `inputs` are the files that are being read. An existing file is replaced only if it is empty
  /// or begins with `only_over`.
  /// ERRORS: it is one of the inputs, or a file to keep; it is a folder; it cannot be created.
  static core::Expected<OutputFile> create(const std::string& path,
                                           const std::vector<std::string>& inputs,
                                           std::string_view only_over = "");
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] std::ostream& stream() { return *stream_; }
  /// Completes the file, writes it to the disk and gives it its name. ERRORS (kRun): the disk is
  /// full, or the name is not available.
  core::Expected<void> keep();
  /// For a file that cannot be completed: keeps what was written under its temporary name and
  /// returns that; empty for a pipe or a device.
  std::string leave();

 private:
  OutputFile(std::string path, std::string part, int file)
      : path_(std::move(path)),
        part_(std::move(part)),
        buffer_(std::make_unique<FileBuffer>(file)),
        stream_(std::make_unique<std::ostream>(buffer_.get())) {}

  std::string path_;
  std::string
      part_;  ///< the temporary file; empty once kept or moved from, and for pipes and devices
  std::unique_ptr<FileBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// Writes a complete file. ERRORS: as OutputFile.
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::function<void(std::ostream&)>& write);
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& text);

/// An option that names an output file. "" and "-" name none.
struct NamedOutput {
  const char* option;
  const std::string& path;
};
/// ERRORS (kConflict, the later option): two outputs would go into one file. Devices may be shared.
core::Expected<void> check_distinct(std::initializer_list<NamedOutput> outputs);

}  // namespace tutti::tools
