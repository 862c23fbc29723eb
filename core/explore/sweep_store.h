#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/explore/database.h"
#include "core/explore/outcome.h"
#include "core/explore/space.h"
#include "core/scenario/library.h"

namespace tutti::core {

/// What a sweep is of. Two that differ in any of this have nothing to do with each other.
struct SweepInfo {
  std::string version;           ///< of Tutti
  std::string scenario_file;     ///< what errors call it
  std::string scenario_text;     ///< as it was written
  std::vector<std::string> set;  ///< what of it is otherwise at all points: "strategy.shards=4"
  std::vector<Axis> axes;
};

/// A sweep's results in an SQLite file (docs/formats.md has its tables): a row for every point that is done. Rows are committed one
/// by one, so that nothing but points in work is lost when the program is killed; a point has one row and keeps its first, unless it
/// was stopped early: what is known of it to its end takes that row's place.
class SweepStore {
 public:
  /// Makes the file, or goes on with it. ERRORS (requests): it holds something else, or another sweep (which is told); as
  /// Database.
  static Expected<SweepStore> resume(const std::string& path, const SweepInfo& info);
  /// One that is there, to be read; or (Mode::kWrite) added to. ERRORS: likewise.
  static Expected<SweepStore> open(const std::string& path, Database::Mode mode = Database::Mode::kRead);

  [[nodiscard]] const SweepInfo& info() const { return info_; }
  [[nodiscard]] const Space& space() const { return *space_; }

  /// By point: whether it has a row of all its steps. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<bool>> done();
  /// Adds a row, unless the point has one. ERRORS (kRun): the disk is full.
  Expected<void> add(std::int64_t point, const Outcome& outcome);
  /// Every row, by point. ERRORS (kRun): the file cannot be read.
  Expected<void> each(const std::function<void(std::int64_t point, const Outcome&)>& row);

  /// Step times that were measured at a point: they stay with the sweep, one for each source (the name of a file).
  struct Measured {
    std::int64_t point = 0;
    Time step;
    std::string source;
    std::string said;  ///< what ran it
    bool operator==(const Measured&) const = default;
  };
  /// Another one of the same source takes its place. ERRORS: it may not be written; the disk is full.
  Expected<void> add_measured(const Measured& measured);
  /// By point and source. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<Measured>> measured();

  /// Changes whenever somebody else has written to the file. ERRORS (kRun): likewise.
  Expected<std::int64_t> version();

  /// A file that a scenario names, as it was read. ERRORS (kRequest): another text of this name went into the sweep before.
  Expected<void> remember(const Library::File& file);
  /// Those that were remembered. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<Library::File>> files();

 private:
  SweepStore(Database database, SweepInfo info, Space space);
  Expected<void> create();

  std::unique_ptr<Database> database_;
  SweepInfo info_;
  std::unique_ptr<const Space> space_;
  std::unique_ptr<Statement> insert_;
  std::unique_ptr<Statement> give_way_;  ///< removes what was stopped early
};

}  // namespace tutti::core
