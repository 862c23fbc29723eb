#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "tools/tutti/io/file_buffer.h"

namespace tutti::tools {

/// A file that appears under its name only once it is whole; until then its content grows beside it as NAME.part (or
/// NAME.2.part, … where that is taken: what is there may be all that is left of an earlier run). What was there before
/// stays until then. Dropped without keep() or leave(), it leaves nothing behind; nor does it when a signal ends the program, unless
/// an Interrupt catches that. Pipes and devices, such as /dev/null, are written to as they are.
class OutputFile {
 public:
  /// `inputs` are the files that are being read. An existing file is replaced only if it is empty
  /// or begins with `only_over`.
  /// ERRORS: it is one of the inputs, or a file to keep; it is a folder; it cannot be created.
  static core::Expected<OutputFile> create(const std::string& path, const std::vector<std::string>& inputs,
                                           std::string_view only_over = "");
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] std::ostream& stream() { return *stream_; }
  /// ERRORS (kRun): the disk is full, or the name cannot be taken.
  core::Expected<void> keep();
  /// Of a file that cannot be written to its end: leaves what was written under the name that it has so far, and returns
  /// that; empty for a pipe or a device.
  std::string leave();

 private:
  OutputFile(std::string path, std::string part, int file)
      : path_(std::move(path)),
        part_(std::move(part)),
        buffer_(std::make_unique<FileBuffer>(file)),
        stream_(std::make_unique<std::ostream>(buffer_.get())) {}

  std::string path_;
  std::string part_;  ///< what grows until it is kept; empty once kept or moved from, and of pipes and devices
  std::unique_ptr<FileBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// Writes a file as a whole. ERRORS: as OutputFile.
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::function<void(std::ostream&)>& write);
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& text);

}  // namespace tutti::tools
