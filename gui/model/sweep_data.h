#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/space.h"
#include "core/explore/sweep_store.h"

namespace tutti::gui {

/// A sweep's file as it was at one moment: nothing of it changes any more, so that it can be handed from thread to thread.
struct SweepData {
  struct Row {
    std::int64_t point = 0;
    core::Outcome outcome;
  };

  std::string path;
  core::SweepInfo info;
  std::shared_ptr<const core::Space> space;
  std::vector<Row> rows;  ///< of points that are done, by point
  std::vector<core::SweepStore::Measured> measured;
  std::vector<core::Library::File> files;  ///< that the scenario names, as they were

  /// Null if the point is not done.
  [[nodiscard]] const core::Outcome* outcome(std::int64_t point) const;
  /// Whether every point is known to its last step.
  [[nodiscard]] bool complete() const { return std::ssize(rows) == space->size(); }
  /// "strategy.shards = 4", a line for each field that varies; sizes in KiB, MiB, ….
  [[nodiscard]] std::string settings(std::int64_t point) const;
};

/// Reads what the file has by now. ERRORS: it cannot be read.
core::Expected<std::shared_ptr<const SweepData>> read_sweep(core::SweepStore& store, const std::string& path);

/// A value of a field as people read it: "not set", "4 MiB".
std::string shown_value(const std::string& field, const std::string& value);
/// Whether it counts bytes.
bool counts_bytes(const std::string& field);

}  // namespace tutti::gui
