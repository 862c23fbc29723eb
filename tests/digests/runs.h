#pragma once

#include <string>
#include <vector>

#include "sim/simulator.h"
#include "tests/digests/cases.h"
#include "tests/digests/timeline_values.h"

namespace tutti::test {

/// A way in which a case is simulated.
struct Mode {
  std::string name;
  sim::Folds folds = sim::Folds::kNever;
  sim::Remembers remembers = sim::Remembers::kNever;
  core::RecordLevel level = core::RecordLevel::kSteps;
  TimelineValues::View view = TimelineValues::View::kAll;  ///< in which it is comparable with the first mode
};

/// Of a case, the mode of which all digests are kept comes first. Of the others those are kept that differ.
std::vector<Mode> modes_of(const DigestCase& one);

/// What came of a case in one mode.
struct ModeRun {
  /// "ok"; or "refused" or "failed" (core::ErrorKind), and the places of the problems: "refused 3:12 5:1".
  /// Texts of errors are no part of it.
  std::string ending;
  TimelineValues values;
};

/// Nothing but an ending if the scenario cannot be read.
ModeRun run(const DigestCase& one, const Mode& mode);

/// The lines of the case in the file of digests: "042 whole packs 0123456789abcdef".
std::vector<std::string> digest_lines(const DigestCase& one);
/// The values of a case, one record per line: "whole packs step=0 pack=0 ready=…". `mode`: only of this; "": of all.
std::vector<std::string> value_lines(const DigestCase& one, const std::string& mode);

}  // namespace tutti::test
