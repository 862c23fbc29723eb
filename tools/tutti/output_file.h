#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::tools {

/// A file that appears under its name only once it is whole; until then its content grows beside it as NAME.part.
/// What was there before stays until then. Dropped without keep(), it leaves nothing behind. Pipes and devices, such as
/// /dev/null, are written to as they are.
class OutputFile {
 public:
  /// `inputs` are the files that are being read. ERRORS: it is one of those, it is a folder, it cannot be created.
  static core::Expected<OutputFile> create(const std::string& path, const std::vector<std::string>& inputs);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] std::ostream& stream() { return stream_; }
  /// ERRORS (kRun): the disk is full, or the name cannot be taken.
  core::Expected<void> keep();

 private:
  OutputFile(std::string path, std::string part, std::ofstream stream)
      : path_(std::move(path)), part_(std::move(part)), stream_(std::move(stream)) {}

  std::string path_;
  std::string part_;  ///< what grows until it is kept; empty once kept or moved from, and of pipes and devices
  std::ofstream stream_;
};

}  // namespace tutti::tools
