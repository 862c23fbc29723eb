// The lines form a tree, which is stored as the list `all_`. Every group precedes its content. A
// line is in a group if its key begins with the key of the group and '/'. Collapsed and pinned
// lines are sets of keys. Keys are the same for every run of a scenario, so these sets remain valid
// when another timeline is opened. The constructor creates all lines. After every change, arrange()
// computes the visible lines: first the pinned lines, then all lines that match the filter and are
// not in a collapsed group. A filter also shows matching lines in collapsed groups. Painting is in
// gui/paint.

#include "gui/trace/layout.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "gui/trace/naming.h"

namespace tutti::gui {
namespace {

constexpr int kSpansHeight = 20;
constexpr int kGroupHeight = 22;
constexpr int kLinkHeight = 34;
constexpr int kErrorHeight = 28;
constexpr std::size_t kOpenLanes = 8;
/// If a device has more rows of packs than this, the rows are in a group of their own.
constexpr std::size_t kUngroupedPacks = 4;
constexpr const char* kPacksGroup = "packs";
constexpr std::size_t kOpenDevices = 16;
constexpr std::size_t kOpenLinks = 12;

/// Converts the name of a timeline to the last part of a key.
std::string behind(const std::string& timeline) { return timeline.empty() ? "" : '/' + timeline; }

/// Sorts the rows of both timelines so that matching rows are adjacent.
std::vector<std::size_t> in_pairs(const Trace& trace, std::vector<std::size_t> rows) {
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return is_listed_before(trace.rows()[a].track, trace.rows()[b].track);
  });
  return rows;
}

/// Returns the texts of a filter, in lower case: "gpu0 | gpu1" has two.
std::vector<std::string> alternatives(const std::string& filter) {
  std::vector<std::string> texts;
  std::size_t from = 0;
  while (from <= filter.size()) {
    const std::size_t end = std::min(filter.find('|', from), filter.size());
    const std::string text = filter.substr(from, end - from);
    const std::size_t first = text.find_first_not_of(' ');
    if (first != std::string::npos)
      texts.push_back(lower(text.substr(first, text.find_last_not_of(' ') + 1 - first)));
    from = end + 1;
  }
  return texts;
}

/// Returns true if the key contains one of the texts, or if there are no texts.
bool passes_filter(const std::string& key, const std::vector<std::string>& texts) {
  if (texts.empty()) return true;
  const std::string lowered = lower(key);
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return lowered.find(text) != std::string::npos;
  });
}

bool contains(const Line& group, const Line& line) { return line.key.starts_with(group.key + '/'); }

}  // namespace

Layout::Layout(const Trace& trace, Arrangement arrangement) {
  const bool two = trace.sides().size() > 1;
  const bool pairs = two && arrangement == Arrangement::kPairs;
  std::vector<std::size_t> all(trace.rows().size());
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
  if (pairs || !two) {
    std::vector<std::size_t> sides;
    for (std::size_t s = 0; s < trace.sides().size(); ++s) sides.push_back(s);
    for (const std::size_t s : sides) add_steps(trace, s, "", 0, trace.sides()[s].name);
    add_differences(trace);
    for (const std::size_t s : sides) add_path(trace, s, "", 0, trace.sides()[s].name);
    add_rows(trace, pairs ? in_pairs(trace, all) : all, "", 0, pairs);
    add_links(trace, sides, "", 0);
  } else {
    add_differences(trace);
    for (std::size_t s = 0; s < trace.sides().size(); ++s) {
      const std::string& name = trace.sides()[s].name;
      add({.kind = Line::Kind::kSide, .key = name, .name = name, .side = s});
      add_steps(trace, s, name + '/', 1, "");
      add_path(trace, s, name + '/', 1, "");
      std::vector<std::size_t> own;
      std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                   [&](std::size_t r) { return trace.rows()[r].side == s; });
      add_rows(trace, own, name + '/', 1, false);
      add_links(trace, {s}, name + '/', 1);
    }
  }
  for (const Line& line : all_) {
    // The rows that show the deviations are always pinned.
    if (line.kind == Line::Kind::kError || (pairs && line.kind == Line::Kind::kSteps))
      pinned_.insert(line.key);
  }
  collapse_large_groups();
  arrange();
}

void Layout::show_counters(const std::vector<std::string>& names) {
  std::erase_if(all_, [](const Line& line) {
    return line.kind == Line::Kind::kCounters || line.kind == Line::Kind::kCounter;
  });
  counters_ = !names.empty();
  // Place lines that concern the whole run above the lines of single workers and links.
  std::vector<Line> below;
  const auto first =
      std::find_if(all_.begin(), all_.end(), [](const Line& line) { return line.is_group(); });
  std::move(first, all_.end(), std::back_inserter(below));
  all_.erase(first, all_.end());
  if (counters_) add({.kind = Line::Kind::kCounters, .key = "counters", .name = "counters"});
  for (std::size_t i = 0; i < names.size(); ++i)
    add({.kind = Line::Kind::kCounter,
         .depth = 1,
         .key = "counters/" + names[i],
         .name = names[i],
         .number = i});
  std::move(below.begin(), below.end(), std::back_inserter(all_));
  arrange();
}

void Layout::add_steps(const Trace& trace, std::size_t side, const std::string& under, int depth,
                       const std::string& timeline) {
  if (trace.sides()[side].steps.empty()) return;
  add({.kind = Line::Kind::kSteps,
       .depth = depth,
       .key = under + "steps" + behind(timeline),
       .name = "steps",
       .side = side,
       .timeline = timeline});
}

void Layout::add_path(const Trace& trace, std::size_t side, const std::string& under, int depth,
                      const std::string& timeline) {
  if (trace.sides()[side].path.empty()) return;
  add({.kind = Line::Kind::kPath,
       .depth = depth,
       .key = under + "critical path" + behind(timeline),
       .name = "critical path",
       .side = side,
       .timeline = timeline});
}

void Layout::add_differences(const Trace& trace) {
  const auto& differences = trace.differences();
  for (std::size_t d = 0; d < differences.size(); ++d)
    add({.kind = Line::Kind::kError,
         .key = differences[d].name,
         .name = differences[d].name,
         .number = d});
}

void Layout::add_rows(const Trace& trace, const std::vector<std::size_t>& rows,
                      const std::string& under, int depth, bool pairs) {
  // The keys of devices are unique within a side.
  const auto device_of = [&](const Trace::Row& row) {
    return under + row.group + '/' + row.track.device;
  };
  std::map<std::pair<std::string, std::size_t>, std::size_t> packs;  // rows by device and side
  for (const std::size_t r : rows) {
    const Trace::Row& row = trace.rows()[r];
    if (row.track.kind == core::TrackKind::kPacks) ++packs[{device_of(row), row.side}];
  }
  const std::string side_name = under.empty() ? "" : under.substr(0, under.size() - 1) + ", ";
  std::string worker, device, group;
  for (const std::size_t r : rows) {
    const Trace::Row& row = trace.rows()[r];
    const std::string worker_key = under + row.group;
    const std::string device_key = device_of(row);
    const auto many_packs = [&](std::size_t side) {
      const auto found = packs.find({device_key, side});
      return found != packs.end() && found->second > kUngroupedPacks;
    };
    const bool is_pack = row.track.kind == core::TrackKind::kPacks;
    const bool is_lane = row.track.kind == core::TrackKind::kLane;
    // In pairs, matching rows of both sides are in the same group.
    const bool is_grouped =
        is_lane || (is_pack && (pairs ? many_packs(0) || many_packs(1) : many_packs(row.side)));
    const std::string name = is_lane ? "lanes" : kPacksGroup;
    const std::string group_key = device_key + '/' + name;
    const std::string short_name = fmt::format("w{}/{}", row.track.worker, row.track.device);
    if (worker_key != worker)
      add({.kind = Line::Kind::kWorker, .depth = depth, .key = worker_key, .name = row.group});
    if (device_key != device)
      add({.kind = Line::Kind::kDevice,
           .depth = depth + 1,
           .key = device_key,
           .name = row.track.device,
           .full_name = side_name + short_name});
    if (is_grouped && group != group_key)
      add({.kind = Line::Kind::kLanes,
           .depth = depth + 2,
           .key = group_key,
           .name = name,
           .full_name = side_name + short_name + ", " + name});
    worker = worker_key;
    device = device_key;
    if (is_grouped) group = group_key;
    const std::string parent = is_grouped ? group : device;
    add({.kind = Line::Kind::kSpans,
         .depth = depth + (is_grouped ? 3 : 2),
         .key = parent + '/' + row.name + (pairs ? behind(row.timeline) : ""),
         .name = row.name,
         .full_name = side_name + short_name + ", " + row.name,
         .side = row.side,
         .timeline = pairs ? row.timeline : "",
         .rows = {r}});
  }
}

void Layout::add_links(const Trace& trace, const std::vector<std::size_t>& sides,
                       const std::string& under, int depth) {
  struct Place {
    std::size_t side, number;
  };
  // Links are in the order of the first timeline, each followed by the matching link of the second
  // timeline.
  std::vector<std::pair<std::string, std::vector<Place>>> links;
  std::map<std::string, std::size_t> known;
  for (const std::size_t s : sides) {
    for (std::size_t l = 0; l < trace.sides()[s].links.size(); ++l) {
      const std::string& name = trace.sides()[s].links[l].name;
      const auto there = known.try_emplace(name, links.size());
      if (there.second) links.push_back({name, {}});
      links[there.first->second].second.push_back({s, l});
    }
  }
  if (!links.empty())
    add({.kind = Line::Kind::kLinks, .depth = depth, .key = under + "links", .name = "links"});
  for (const auto& [name, places] : links) {
    for (const Place& place : places) {
      const std::string timeline = sides.size() > 1 ? trace.sides()[place.side].name : "";
      add({.kind = Line::Kind::kLink,
           .depth = depth + 1,
           .key = under + "links/" + name + behind(timeline),
           .name = name,
           .side = place.side,
           .timeline = timeline,
           .number = place.number});
    }
  }
}

void Layout::add(Line line) {
  const bool is_plot = line.kind == Line::Kind::kLink || line.kind == Line::Kind::kCounter;
  line.height = line.is_group()                   ? kGroupHeight
                : is_plot                         ? kLinkHeight
                : line.kind == Line::Kind::kError ? kErrorHeight
                                                  : kSpansHeight;
  for (Line& group : all_) {
    if (line.kind == Line::Kind::kSpans && group.is_group() && contains(group, line))
      group.rows.push_back(line.rows.front());
  }
  all_.push_back(std::move(line));
}

/// Collapses groups of a large timeline, so that the first view is clear. The first few devices
/// remain open. The lanes of these devices also remain open if there are few lanes.
void Layout::collapse_large_groups() {
  const auto inside = [this](const Line& group, Line::Kind kind) {
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const Line& l) {
      return l.kind == kind && contains(group, l);
    }));
  };
  std::size_t devices = 0;
  for (const Line& line : all_) {
    const std::size_t lanes = line.kind == Line::Kind::kLanes ? line.rows.size() : 0;
    devices += line.kind == Line::Kind::kDevice;
    const bool many =
        lanes > kOpenLanes || (lanes > 0 && devices > 2) ||
        (line.kind == Line::Kind::kDevice && devices > kOpenDevices) ||
        (line.kind == Line::Kind::kLinks && inside(line, Line::Kind::kLink) > kOpenLinks);
    if (many) closed_.insert(line.key);
  }
}

void Layout::arrange() {
  lines_.clear();
  const std::vector<std::string> wanted = alternatives(filter_);
  std::vector<bool> passes(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) passes[i] = passes_filter(all_[i].key, wanted);
  std::vector<Line> scrolled;
  std::string closed;  // key of the outermost collapsed group around the line
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Line line = all_[i];
    line.open = !closed_.contains(line.key);
    line.pinned = pinned_.contains(line.key);
    bool has = passes[i];
    // The content of a group follows it.
    for (std::size_t j = i + 1;
         !has && line.is_group() && j < all_.size() && contains(line, all_[j]); ++j)
      has = passes[j];
    if (!wanted.empty()) line.open = true;
    if (line.pinned) lines_.push_back(line);
    if (!has) continue;
    if (!closed.empty() && wanted.empty() && line.key.starts_with(closed)) continue;
    closed.clear();
    if (line.is_group() && !line.open) closed = line.key + '/';
    if (!line.pinned) scrolled.push_back(std::move(line));
  }
  const std::size_t pinned = lines_.size();
  std::move(scrolled.begin(), scrolled.end(), std::back_inserter(lines_));
  int top = 0;
  pinned_height_ = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i].top = top;
    top += lines_[i].height;
    if (i < pinned) pinned_height_ = top;
  }
}

std::size_t Layout::line_at(int y) const {
  const auto after =
      std::upper_bound(lines_.begin(), lines_.end(), y,
                       [](int wanted, const Line& line) { return wanted < line.bottom(); });
  return y < 0 ? lines_.size() : static_cast<std::size_t>(after - lines_.begin());
}

std::size_t Layout::line_of_row(std::size_t row) const {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) {
    return l.kind == Line::Kind::kSpans && l.rows.front() == row;
  });
  return static_cast<std::size_t>(line - lines_.begin());
}

std::size_t Layout::line_with_row(std::size_t row) const {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) {
    return (l.kind == Line::Kind::kSpans || (l.is_group() && !l.open)) &&
           std::find(l.rows.begin(), l.rows.end(), row) != l.rows.end();
  });
  return static_cast<std::size_t>(line - lines_.begin());
}

void Layout::open(const std::string& key, bool open) {
  if (open) {
    closed_.erase(key);
  } else {
    closed_.insert(key);
  }
  arrange();
}

void Layout::open_all(bool open) {
  closed_.clear();
  for (const Line& line : all_) {
    if (!open && line.is_group()) closed_.insert(line.key);
  }
  arrange();
}

void Layout::pin(const std::string& key, bool pinned) {
  if (pinned) {
    pinned_.insert(key);
  } else {
    pinned_.erase(key);
  }
  arrange();
}

void Layout::take_over(const Layout& before) {
  for (const Line& line : before.all_) {
    if (!line.is_group()) continue;
    if (before.closed_.contains(line.key)) {
      closed_.insert(line.key);
    } else {
      closed_.erase(line.key);
    }
  }
  for (const Line& line : before.all_) {
    if (before.pinned_.contains(line.key)) {
      pinned_.insert(line.key);
    } else {
      pinned_.erase(line.key);
    }
  }
  filter_ = before.filter_;
  arrange();
}

void Layout::filter(const std::string& text) {
  filter_ = text;
  arrange();
}

void Layout::reveal(std::size_t row) {
  if (line_of_row(row) < lines_.size()) return;
  filter_.clear();
  for (const Line& line : all_) {
    if (line.is_group() && std::find(line.rows.begin(), line.rows.end(), row) != line.rows.end())
      closed_.erase(line.key);
  }
  arrange();
}

void Layout::reveal(const std::string& key) {
  const auto there = [&](const Line& line) { return line.key == key; };
  if (std::any_of(lines_.begin(), lines_.end(), there)) return;
  filter_.clear();
  for (const Line& line : all_) {
    if (line.is_group() && key.starts_with(line.key + '/')) closed_.erase(line.key);
  }
  arrange();
}

std::string Layout::key_of_link(std::size_t side, std::size_t link) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Line& line) {
    return line.kind == Line::Kind::kLink && line.side == side && line.number == link;
  });
  return found == all_.end() ? std::string() : found->key;
}

}  // namespace tutti::gui
