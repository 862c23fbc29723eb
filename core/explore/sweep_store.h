#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/explore/database.h"
#include "core/explore/outcome.h"
#include "core/explore/space.h"
#include "core/scenario/library.h"

namespace tutti::core {

/// Identifies a sweep. Two sweeps are the same if all fields of their SweepInfo are equal.
struct SweepInfo {
  std::string version;           ///< version of Tutti
  std::string scenario_file;     ///< file name for error messages
  std::string scenario_text;     ///< text of the scenario file
  std::vector<std::string> set;  ///< overrides that apply to all points: "strategy.shards=4"
  std::vector<Axis> axes;
};

/// Compares the versions of Tutti, the scenarios and the --set options of two sweeps, but not their
/// fields and values. Returns a description of the first difference; nullopt if there is none.
std::optional<std::string> difference_of_scenarios(const SweepInfo& a, const SweepInfo& b);

/// The results of a sweep in an SQLite file, with a row for every completed point (docs/formats.md
/// describes the tables). Each row is committed separately, so only points in progress are lost if
/// the program is killed. If a point gets a second result, the first one is kept. The only
/// exception is that a complete result replaces the result of a run that was stopped early.
class SweepStore {
 public:
  /// Opens the file of a sweep, or creates it. ERRORS (requests): the file contains a different
  /// sweep (the text lists the differences) or other content; as for Database.
  static Expected<SweepStore> resume(const std::string& path, const SweepInfo& info);
  /// Opens an existing file for reading or, with kWrite, for adding rows. ERRORS: as for resume().
  static Expected<SweepStore> open(const std::string& path,
                                   Database::Mode mode = Database::Mode::kRead);

  [[nodiscard]] const SweepInfo& info() const { return info_; }
  [[nodiscard]] const Space& space() const { return *space_; }

  /// Returns a vector with one entry for each point, which is true if the point has the result of a
  /// run that was not stopped early. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<bool>> done();
  /// Adds the result of a point. If the point already has a result, the new result is ignored,
  /// unless it is from a complete run and the existing result is from a run that was stopped early.
  /// ERRORS (kRun): the disk is full.
  Expected<void> add(std::int64_t point, const Outcome& outcome);
  /// Calls `row` for every point that has a result, in ascending order of points.
  /// ERRORS (kRun): the file cannot be read.
  Expected<void> each(const std::function<void(std::int64_t point, const Outcome&)>& row);

  /// A measured step time of a point, which is stored with the sweep. A point may have several
  /// measurements from different sources (file names).
  struct Measured {
    std::int64_t point = 0;
    Time step;
    std::string source;
    std::string program;  ///< program that executed the run
    bool operator==(const Measured&) const = default;
  };
  /// Adds a measurement. Replaces an existing measurement from the same source.
  /// ERRORS: the file is not writable; the disk is full.
  Expected<void> add_measured(const Measured& measured);
  /// Returns all measurements, sorted by point and source. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<Measured>> measured();

  /// Returns a number that changes when another connection writes to the file.
  /// ERRORS (kRun): as for each().
  Expected<std::int64_t> version();

  /// Stores a file that a scenario refers to.
  /// ERRORS (kRequest): the sweep already has a file of this name with another text.
  Expected<void> remember(const Library::File& file);
  /// Returns the stored files. ERRORS (kRun): the file cannot be read.
  Expected<std::vector<Library::File>> files();

 private:
  SweepStore(Database database, SweepInfo info, Space space);
  /// Creates the tables of a sweep. Returns false if another program has created the tables since
  /// the file was opened.
  Expected<bool> create();

  std::unique_ptr<Database> database_;
  SweepInfo info_;
  std::unique_ptr<const Space> space_;
  std::unique_ptr<Statement> insert_;
  std::unique_ptr<Statement> delete_stopped_;  ///< removes a point's row if its run was stopped
                                               ///< early
};

}  // namespace tutti::core
