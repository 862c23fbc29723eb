#pragma once

#include <string>
#include <vector>

#include "sim/simulator.h"
#include "tests/digests/cases.h"
#include "tests/digests/timeline_values.h"

namespace tutti::test {

/// One way to simulate a case.
struct Mode {
  std::string name;
  sim::Folds folds = sim::Folds::kNever;
  sim::SkipRepeats skip_repeats = sim::SkipRepeats::kNever;
  core::RecordLevel level = core::RecordLevel::kSteps;
  /// The values that are compared with the first mode.
  TimelineValues::View view = TimelineValues::View::kAll;
};

/// Returns the modes of a case. The file stores all digests of the first mode, and those digests of
/// other modes that differ from the first mode's.
std::vector<Mode> modes_of(const DigestCase& one);

/// The result of a case in one mode.
struct ModeRun {
  /// "ok", or the kind of the error (core::ErrorKind) and the places of its problems: "refused 3:12
  /// 5:1". The texts of errors are left out.
  std::string ending;
  TimelineValues values;
};

/// Reads the scenario of a case. ERRORS: the scenario is invalid.
core::Expected<core::Scenario> read(const DigestCase& one);
/// Simulates a case. If its scenario is invalid, the result has only an ending.
ModeRun run(const DigestCase& one, const Mode& mode);

/// Returns the lines of the case in its file of digests: "042 whole packs 0123456789abcdef".
std::vector<std::string> digest_lines(const DigestCase& one);
/// Returns the values of a case, one record per line: "whole packs step=0 pack=0 ready=…". An empty
/// `mode` stands for all modes. Throws std::runtime_error if the case has no such mode.
std::vector<std::string> value_lines(const DigestCase& one, const std::string& mode);

}  // namespace tutti::test
