// This file finds short names for the two timelines of a comparison, and makes sentences about
// records that only one of them has. The name is taken from the first property that distinguishes
// the runs: the kind of executor, a part of the strategy's description, the scenario, or the file.
// Names of more than 14 characters are shortened to the words in which they differ, so that they
// fit next to a row. A fact that is the same for both timelines gets no sentence. The functions
// names_of() and is_prediction() are declared in comparison.h. Differences in time are described by
// core::Comparison instead.

#include "gui/comparison/comparison_words.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "gui/comparison/alignment.h"
#include "gui/comparison/comparison.h"

namespace tutti::gui {

using core::RunInfo;

namespace {

using Names = std::array<std::string, 2>;

constexpr std::size_t kShort = 14;  ///< characters of a name that fits next to a row

/// Returns one word for the kind of executor that made a timeline.
std::string sort_of(const RunInfo& run) {
  for (const char* const word : {"simulated", "emulated"}) {
    if (run.executor.starts_with(word)) return word;
  }
  return "real";
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(", ", begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return parts;
}

/// If one of two names is too long to fit next to a row, shortens both names to the words in which
/// they differ. Returns short names unchanged.
Names made_distinct(const Names& names) {
  if (std::max(names[0].size(), names[1].size()) <= kShort) return names;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto same = [&](auto a, auto a_end, auto b, auto b_end) {
    std::size_t whole = 0;  // number of characters up to which words end in both
    for (std::size_t n = 0; a != a_end && b != b_end && *a == *b; ++a, ++b) {
      ++n;
      if (!is_word(*a)) whole = n;
    }
    return whole;
  };
  std::size_t before = same(names[0].begin(), names[0].end(), names[1].begin(), names[1].end());
  const auto rest = [&](const std::string& name) {
    return static_cast<std::ptrdiff_t>(name.size() - before);
  };
  const std::size_t behind = same(names[0].rbegin(), names[0].rbegin() + rest(names[0]),
                                  names[1].rbegin(), names[1].rbegin() + rest(names[1]));
  // A number needs the word before it, as in "run 2", to be understood.
  constexpr std::size_t kTiny = 3;
  if (names[0].size() - before - behind <= kTiny && names[1].size() - before - behind <= kTiny) {
    while (before > 0 && !is_word(names[0][before - 1])) --before;
    while (before > 0 && is_word(names[0][before - 1])) --before;
  }
  Names own;
  for (std::size_t s = 0; s < 2; ++s)
    own[s] = names[s].substr(before, names[s].size() - before - behind);
  return own[0].empty() || own[1].empty() ? names : own;
}

/// Splits two names into parts, and returns the first part of each name that the other name does
/// not contain. Returns empty names if the other name contains all parts of one name.
Names own_parts(const std::string& first, const std::string& second) {
  const auto own = [](const std::string& text, const std::string& other) {
    const std::vector<std::string> others = parts_of(other);
    for (const std::string& part : parts_of(text)) {
      if (std::find(others.begin(), others.end(), part) == others.end()) return part;
    }
    return std::string();
  };
  const Names parts{own(first, second), own(second, first)};
  return parts[0].empty() || parts[1].empty() ? Names() : parts;
}

/// Returns a list such as "0, 1 and 4 to 7".
std::string list(const std::set<std::int32_t>& numbers) {
  std::vector<std::string> stretches;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    while (std::next(last) != numbers.end() && *std::next(last) == *last + 1) ++last;
    stretches.push_back(first == last ? std::to_string(*first)
                                      : fmt::format("{} to {}", *first, *last));
    first = std::next(last);
  }
  std::string text;
  for (std::size_t i = 0; i < stretches.size(); ++i)
    text += (i == 0 ? "" : i + 1 == stretches.size() ? " and " : ", ") + stretches[i];
  return text;
}

/// Adds a sentence for each side about elements that only this side has, such as "real alone has
/// workers 2 to 3".
void report_own(const std::array<std::set<std::int32_t>, 2>& sets, const Names& names,
                const std::string& what, std::vector<std::string>& sentences) {
  for (std::size_t s = 0; s < 2; ++s) {
    std::set<std::int32_t> own;
    std::set_difference(sets[s].begin(), sets[s].end(), sets[1 - s].begin(), sets[1 - s].end(),
                        std::inserter(own, own.end()));
    if (own.empty()) continue;
    sentences.push_back(
        fmt::format("{} alone has {}{} {}", names[s], what, own.size() == 1 ? "" : "s", list(own)));
  }
}

struct Contents {
  std::set<std::int32_t> steps, workers;
  std::set<std::pair<std::int32_t, std::string>> devices;
  bool lanes = false;
  bool packs = false;
  bool compute = false;
};

Contents contents_of(const Trace& trace) {
  Contents contents;
  for (const core::StepRecord& step : trace.steps()) contents.steps.insert(step.step);
  for (const Trace::Row& row : trace.rows()) {
    contents.workers.insert(row.track.worker);
    contents.devices.emplace(row.track.worker, row.track.device);
    contents.lanes |= row.track.kind == core::TrackKind::kLane;
    contents.packs |= row.track.kind == core::TrackKind::kPacks;
    contents.compute |= row.track.kind == core::TrackKind::kCompute;
    for (const auto& [first, step] : row.steps) contents.steps.insert(step);
  }
  return contents;
}

/// True if the run used predicted times of NCCL for all packs. Such a run has no schedule steps.
bool uses_nccl_model(const RunInfo& run) {
  return !run.packs.empty() && std::all_of(run.packs.begin(), run.packs.end(),
                                           [](const auto& pack) { return !pack.nccl.empty(); });
}

void report_missing(const std::array<Contents, 2>& contents, const Trace& first,
                    const Trace& second, const Names& names, std::vector<std::string>& sentences) {
  const std::array<const Trace*, 2> traces{&first, &second};
  for (std::size_t s = 0; s < 2; ++s) {
    const auto tell = [&](bool mine, bool others, const char* what) {
      if (!mine && others) sentences.push_back(fmt::format("{} has no {}", names[s], what));
    };
    const Contents &own = contents[s], &other = contents[1 - s];
    tell(own.compute, other.compute, "computation");
    tell(own.packs, other.packs, "packs on single devices");
    tell(own.lanes, other.lanes,
         uses_nccl_model(traces[s]->run()) ? "lanes (NCCL is simulated without schedule steps; "
                                             "--nccl rings simulates schedule steps)"
                                           : "lanes (recorded with --record steps)");
    tell(!traces[s]->links().empty(), !traces[1 - s]->links().empty(), "load of links");
    tell(!traces[s]->path().empty(), !traces[1 - s]->path().empty(), "critical path");
    if (!traces[s]->complete())
      sentences.push_back(fmt::format("the file of {} {}", names[s], traces[s]->damage()));
  }
}

}  // namespace

bool is_prediction(const RunInfo& first, const RunInfo& second) {
  return sort_of(first) == "simulated" && sort_of(second) != "simulated";
}

std::array<std::string, 2> names_of(const RunInfo& first, const RunInfo& second,
                                    const Names& files) {
  const Names sorts{sort_of(first), sort_of(second)};
  if (sorts[0] != sorts[1]) return sorts;
  if (const Names parts = own_parts(first.strategy, second.strategy); !parts[0].empty())
    return parts;
  if (first.scenario != second.scenario && !first.scenario.empty() && !second.scenario.empty())
    return made_distinct({first.scenario, second.scenario});
  Names names;
  for (std::size_t s = 0; s < 2; ++s)
    names[s] = std::filesystem::path(files[s]).filename().string();
  if (names[0] == names[1]) names = files;
  return names[0] == names[1] ? Names{"first", "second"} : made_distinct(names);
}

std::string label_of(const std::string& name, const std::string& other) {
  if (name.size() <= kShort) return name;
  std::size_t begin = 0;  // of the first word in which the names differ
  for (std::size_t i = 0; i < std::min(name.size(), other.size()) && name[i] == other[i]; ++i) {
    if (name[i] == ' ') begin = i + 1;
  }
  return name.substr(begin);
}

std::vector<std::string> what_differs(const Trace& first, const Trace& second, const Names& names,
                                      const core::Numbers& packs) {
  std::vector<std::string> sentences;
  const std::array<Contents, 2> contents{contents_of(first), contents_of(second)};
  const auto share = [](const auto& a, const auto& b) {
    return std::any_of(a.begin(), a.end(), [&](const auto& x) { return b.contains(x); });
  };
  if (packs.empty() && !share(contents[0].devices, contents[1].devices))
    sentences.emplace_back("the two timelines have no device and no pack in common");
  const RunInfo &a = first.run(), &b = second.run();
  const auto differ = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y)
      sentences.push_back(
          fmt::format("the {}: {}, and {}", what, x.empty() ? "none" : x, y.empty() ? "none" : y));
  };
  differ("scenario", a.scenario, b.scenario);
  differ("cluster", a.cluster, b.cluster);
  differ("workload", a.workload, b.workload);
  differ("strategy", a.strategy, b.strategy);
  differ("computation times", a.timing, b.timing);
  report_own({contents[0].steps, contents[1].steps}, names, "training step", sentences);
  report_own({contents[0].workers, contents[1].workers}, names, "worker", sentences);
  for (std::size_t s = 0; s < 2; ++s) {
    std::size_t own = 0;
    for (const auto& device : contents[s].devices)
      own += contents[1 - s].workers.contains(device.first) &&
             !contents[1 - s].devices.contains(device);
    if (own > 0)
      sentences.push_back(
          fmt::format("for workers that both timelines record, {} has {} device{} that the other "
                      "timeline lacks",
                      names[s], own, own == 1 ? "" : "s"));
  }
  if (packs.size() < a.packs.size() || packs.size() < b.packs.size()) {
    sentences.push_back(
        fmt::format("{} of the {} packs in {} have the same gradients as one of the {} packs in "
                    "{}; only these packs are compared",
                    packs.size(), a.packs.size(), names[0], b.packs.size(), names[1]));
  }
  report_missing(contents, first, second, names, sentences);
  return sentences;
}

}  // namespace tutti::gui
