#include "tests/digests/runs.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/scenario/scenario.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::test {

core::Expected<core::Scenario> read(const DigestCase& one) {
  return core::read_scenario(one.text, one.path, shipped_library());
}

namespace {

using View = TimelineValues::View;

std::string ending_of(const core::Error& error) {
  std::string text = error.kind() == core::ErrorKind::kRequest ? "refused" : "failed";
  for (const core::Problem& problem : error.problems())
    text += fmt::format(" {}:{}", problem.where.line, problem.where.column);
  return text;
}

ModeRun run(const core::Scenario& scenario, const Mode& mode) {
  ModeRun result;
  core::RecordOptions record;
  record.level = mode.level;
  const auto ran =
      sim::Simulator(mode.folds, mode.skip_repeats).run(scenario, record, {}, result.values);
  result.ending = ran ? "ok" : ending_of(ran.error());
  result.values.sort();
  return result;
}

/// Returns true if runs of the mode record the section.
bool has(const Mode& mode, Section section) {
  switch (section) {
    case Section::kComputation:
    case Section::kFlights:
    case Section::kMessages:
    case Section::kBins: return mode.level != core::RecordLevel::kNone;
    default: return true;
  }
}

}  // namespace

std::vector<Mode> modes_of(const DigestCase& one) {
  using core::RecordLevel;
  using sim::Folds;
  using sim::SkipRepeats;
  // Steps and rounds are memoized only if nothing but the run as a whole is recorded.
  const Mode whole{"whole", Folds::kNever, SkipRepeats::kNever, RecordLevel::kSteps, View::kAll};
  const Mode folded{"folded", Folds::kAlways, SkipRepeats::kNever, RecordLevel::kSteps,
                    View::kOneWorker};
  const Mode remembered{"remembered", Folds::kNever, SkipRepeats::kAlways, RecordLevel::kNone,
                        View::kAll};
  const Mode both{"both", Folds::kAlways, SkipRepeats::kAlways, RecordLevel::kNone,
                  View::kOneWorker};
  if (one.axes.starts_with("family=many ")) {
    // Simulating all workers of these scenarios would take too long.
    Mode first = folded;
    first.view = View::kAll;
    return {first, both};
  }
  if (!one.shipped) return {whole, folded, remembered, both};
  // Shipped scenarios are large. So messages are compared only for the corpus, and 65536 GPUs are
  // never simulated one by one.
  const Mode usual{"usual", Folds::kAutomatic, SkipRepeats::kAutomatic, RecordLevel::kPacks,
                   View::kAll};
  const Mode quick{"quick", Folds::kAutomatic, SkipRepeats::kAlways, RecordLevel::kNone,
                   View::kOneWorker};
  return {usual, quick};
}

ModeRun run(const DigestCase& one, const Mode& mode) {
  const core::Expected<core::Scenario> scenario = read(one);
  if (!scenario) return {ending_of(scenario.error()), {}};
  return run(*scenario, mode);
}

std::vector<std::string> digest_lines(const DigestCase& one) {
  const core::Expected<core::Scenario> scenario = read(one);
  if (!scenario) return {fmt::format("{} {}", one.name, ending_of(scenario.error()))};
  std::vector<std::string> lines;
  const auto add = [&](const Mode& mode, std::string_view what) {
    lines.push_back(fmt::format("{} {} {}", one.name, mode.name, what));
  };
  const std::vector<Mode> modes = modes_of(one);
  const ModeRun first = run(*scenario, modes.front());
  if (first.ending != "ok") add(modes.front(), first.ending);
  for (const Section section : all_sections()) {
    if (first.values.size(section) == 0) continue;
    add(modes.front(), fmt::format("{} {}", to_string(section), first.values.digest(section)));
  }
  for (std::size_t m = 1; m < modes.size(); ++m) {
    const Mode& mode = modes[m];
    const ModeRun other = run(*scenario, mode);
    if (other.ending != first.ending || !other.values.ended()) {
      add(mode, other.ending);
      continue;
    }
    bool same = true;
    for (const Section section : all_sections()) {
      if (!has(mode, section)) continue;
      const std::string digest = other.values.digest(section, mode.view);
      if (digest == first.values.digest(section, mode.view)) continue;
      add(mode, fmt::format("{} {}", to_string(section), digest));
      same = false;
    }
    if (same) add(mode, "same");
  }
  return lines;
}

std::vector<std::string> value_lines(const DigestCase& one, const std::string& mode) {
  std::vector<std::string> lines;
  bool known = mode.empty();
  for (const Mode& m : modes_of(one)) {
    if (!mode.empty() && m.name != mode) continue;
    known = true;
    const ModeRun result = run(one, m);
    lines.push_back(fmt::format("{} ended {}", m.name, result.ending));
    for (const Section section : all_sections()) {
      result.values.print(section, View::kAll, [&](const std::string& record) {
        lines.push_back(fmt::format("{} {} {}", m.name, to_string(section), record));
      });
    }
  }
  if (!known) throw std::runtime_error(one.name + " is not simulated in a mode \"" + mode + "\"");
  return lines;
}

}  // namespace tutti::test
