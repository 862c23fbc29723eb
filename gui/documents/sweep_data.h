#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/space.h"
#include "core/explore/sweep_store.h"

namespace tutti::gui {

/// An immutable snapshot of a sweep's file, which can be passed between threads.
struct SweepData {
  struct Row {
    std::int64_t point = 0;
    core::Outcome outcome;
  };

  std::string path;
  core::SweepInfo info;
  std::shared_ptr<const core::Space> space;
  std::vector<Row> rows;  ///< the completed points, ordered by index
  std::vector<core::SweepStore::Measured> measured;
  /// The files to which the scenario refers, with their content at the time when the sweep began.
  std::vector<core::Library::File> files;

  /// Returns the result of a point; null if the point is not completed.
  [[nodiscard]] const core::Outcome* outcome(std::int64_t point) const;
  /// Returns true if all points are completed.
  [[nodiscard]] bool complete() const { return std::ssize(rows) == space->size(); }
  /// Returns the settings of a point as text, with one line per varied field, such as
  /// "strategy.shards = 4". Sizes are in KiB, MiB, ….
  [[nodiscard]] std::string settings(std::int64_t point) const;
};

/// Reads the current content of a sweep's file from the disk. ERRORS: the file cannot be read.
core::Expected<std::shared_ptr<const SweepData>> read_sweep(core::SweepStore& store,
                                                            const std::string& path);

/// Returns true if the field is a number of bytes.
bool counts_bytes(const std::string& field);

}  // namespace tutti::gui
