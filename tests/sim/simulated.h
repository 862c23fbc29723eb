#pragma once

// Helpers to simulate scenarios in several ways, and to compare their results.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::test {

using core::Scenario;
using core::Summary;
using sim::Folds;
using sim::SkipRepeats;

inline Scenario read(const std::string& text) {
  const core::Library& library = shipped_library();
  auto scenario = core::read_scenario(text, "f", library);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message()) << "\n" << text;
  return std::move(*scenario);
}

/// Returns one of the texts, at random.
inline std::string one_of(core::Random& random, const std::vector<std::string>& of) {
  return of[random.below(of.size())];
}

/// Removes the worker's number from a name, since workers have equal results if one represents all.
inline std::string without_worker(const std::string& name) {
  return std::regex_replace(name, std::regex("w[0-9]+/"), "w/");
}

/// Returns all values of a summary as texts.
inline std::vector<std::string> summary_values(const Summary& summary) {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& what, auto... times) {
    std::string line = what;
    ((line += " " + std::to_string(times.count())), ...);
    all.push_back(line);
  };
  for (const core::StepRecord& s : summary.steps()) {
    add("step " + without_worker(s.slowest) + " " + without_worker(s.awaited), s.start, s.end,
        s.forward, s.backward, s.other_compute, s.communication, s.exposed, s.awaited_for,
        s.slowed);
  }
  for (const core::PackRecord& p : summary.last_packs())
    add("pack " + std::to_string(p.pack), p.ready, p.first_start, p.last_start, p.end);
  for (const core::LinkRecord& l : summary.busiest_links())
    add(without_worker(l.name), l.bytes, l.busy);
  for (const core::PathPiece& p : summary.path()) {
    add("path " + without_worker(p.device) + " " + p.layer + " over " +
            without_worker(p.slowest_link),
        p.start, p.end, p.parts.total(), p.parts.latency, p.parts.queue, p.parts.reduce,
        p.parts.copy);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Simulates a scenario. Returns nothing if the run is refused.
inline std::optional<Summary> simulated(const Scenario& scenario, Folds folds,
                                        SkipRepeats skip_repeats = SkipRepeats::kNever) {
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  Summary summary;
  const auto ran = sim::Simulator(folds, skip_repeats).run(scenario, record, {}, summary);
  // One worker cannot always represent all.
  const core::ProblemKind cannot_stand{core::ProblemCode::kConflict, "Cluster"};
  EXPECT_TRUE(ran ||
              (folds == Folds::kAlways && ran.error().problems().front().kind == cannot_stand))
      << ran.error().message();
  return ran ? std::optional(summary) : std::nullopt;
}

inline bool says(const Summary& summary, const std::string& what) {
  return std::any_of(summary.info().notes.begin(), summary.info().notes.end(),
                     [&](const std::string& note) { return note.find(what) != std::string::npos; });
}
inline bool says_folded(const Summary& summary) {
  return says(summary, "one worker on behalf of all");
}
inline bool says_remembered(const Summary& summary) {
  return says(summary, "the other steps are identical to step");
}
inline bool says_rounds(const Summary& summary) {
  return says(summary, "the other steps are identical to simulated ones");
}

}  // namespace tutti::test
