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

/// The identity of a sweep. Sweeps that differ in any of these fields are unrelated.
struct SweepInfo {
  std::string version;           ///< version of Tutti
  std::string scenario_file;     ///< file name in error messages
  std::string scenario_text;     ///< as written
  std::vector<std::string> set;  ///< overrides at all points, such as "strategy.shards=4"
  std::vector<Axis> axes;
};

/// The results of a sweep in an SQLite file (docs/formats.md has its tables): a row for every
/// completed point. Each row is committed separately, so that only points in progress are lost when
/// the program is killed. A point keeps its first row, unless that was stopped early: a complete
/// result replaces it.
class SweepStore {
 public:
  /// Creates the file, or continues it. ERRORS (requests): it holds something else, or another
  /// sweep (the message says which); as Database.
  static Expected<SweepStore> resume(const std::string& path, const SweepInfo& info);
  /// Opens an existing file for reading or (Mode::kWrite) for adding rows. ERRORS: as resume().
  static Expected<SweepStore> open(const std::string& path,
                                   Database::Mode mode = Database::Mode::kRead);

  [[nodiscard]] const SweepInfo& info() const { return info_; }
  [[nodiscard]] const Space& space() const { return *space_; }

  /// Returns, by point, whether it has a row with all steps. ERRORS (kRun): the file cannot be
  /// read.
  Expected<std::vector<bool>> done();
  /// Adds a row unless the point has one. ERRORS (kRun): the disk is full.
  Expected<void> add(std::int64_t point, const Outcome& outcome);
  /// Calls `row` for every row, in order of points. ERRORS (kRun): the file cannot be read.
  Expected<void> each(const std::function<void(std::int64_t point, const Outcome&)>& row);

  /// A measured step time at a point, stored with the sweep; one for each source (a file name).
  struct Measured {
    std::int64_t point = 0;
    Time step;
    std::string source;
    std::string said;  ///< the program that executed the run
    bool operator==(const Measured&) const = default;
  };
  /// Adds a measurement, replacing that of the same source. ERRORS: no write access; the disk is
  /// full.
  Expected<void> add_measured(const Measured& measured);
  /// Returns all measurements by point and source. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<Measured>> measured();

  /// Returns a number that changes whenever another connection has written to the file. ERRORS
  /// (kRun): as each().
  Expected<std::int64_t> version();

  /// Stores a file that a scenario refers to. ERRORS (kRequest): the sweep has another text of this
  /// name.
  Expected<void> remember(const Library::File& file);
  /// Returns the stored files. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<Library::File>> files();

 private:
  SweepStore(Database database, SweepInfo info, Space space);
  /// Creates the tables. Returns false if another program has done so since the file was opened.
  Expected<bool> create();

  std::unique_ptr<Database> database_;
  SweepInfo info_;
  std::unique_ptr<const Space> space_;
  std::unique_ptr<Statement> insert_;
  std::unique_ptr<Statement> give_way_;  ///< removes the row of a point that was stopped early
};

}  // namespace tutti::core
