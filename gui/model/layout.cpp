#include "gui/model/layout.h"

#include <algorithm>
#include <cctype>

namespace tutti::gui {
namespace {

constexpr int kSpansHeight = 20;
constexpr int kGroupHeight = 22;
constexpr int kLinkHeight = 34;
constexpr std::size_t kOpenLanes = 8;
constexpr std::size_t kOpenDevices = 16;
constexpr std::size_t kOpenLinks = 12;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool contains(const Line& group, const Line& line) { return line.key.starts_with(group.key + '/'); }

}  // namespace

Layout::Layout(const Trace& trace) {
  if (!trace.steps().empty()) add({.kind = Line::Kind::kSteps, .key = "steps", .name = "steps"});
  if (!trace.path().empty()) add({.kind = Line::Kind::kPath, .key = "critical path", .name = "critical path"});
  std::string worker, device, lanes;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    const Trace::Row& row = trace.rows()[r];
    const bool is_lane = row.track.kind == core::TrackKind::kLane;
    const std::string device_key = row.group + '/' + row.track.device;
    if (row.group != worker) add({.kind = Line::Kind::kWorker, .key = row.group, .name = row.group});
    if (device_key != device)
      add({.kind = Line::Kind::kDevice, .depth = 1, .key = device_key, .name = row.track.device});
    if (is_lane && lanes != device_key + "/lanes")
      add({.kind = Line::Kind::kLanes, .depth = 2, .key = device_key + "/lanes", .name = "lanes"});
    worker = row.group;
    device = device_key;
    if (is_lane) lanes = device_key + "/lanes";
    const std::string parent = is_lane ? lanes : device;
    add({.kind = Line::Kind::kSpans,
         .depth = is_lane ? 3 : 2,
         .key = parent + '/' + row.name,
         .name = row.name,
         .rows = {r}});
  }
  if (!trace.links().empty()) add({.kind = Line::Kind::kLinks, .key = "links", .name = "links"});
  for (std::size_t l = 0; l < trace.links().size(); ++l) {
    const std::string& name = trace.links()[l].name;
    add({.kind = Line::Kind::kLink, .depth = 1, .key = "links/" + name, .name = name, .link = l});
  }
  close_what_is_much();
  arrange();
}

void Layout::show_counters(const std::vector<std::string>& names) {
  std::erase_if(
      all_, [](const Line& line) { return line.kind == Line::Kind::kCounters || line.kind == Line::Kind::kCounter; });
  counters_ = !names.empty();
  // Above what is of one worker or link alone.
  std::vector<Line> below;
  const auto first = std::find_if(all_.begin(), all_.end(), [](const Line& line) { return line.is_group(); });
  std::move(first, all_.end(), std::back_inserter(below));
  all_.erase(first, all_.end());
  if (counters_) add({.kind = Line::Kind::kCounters, .key = "counters", .name = "counters"});
  for (std::size_t i = 0; i < names.size(); ++i)
    add({.kind = Line::Kind::kCounter, .depth = 1, .key = "counters/" + names[i], .name = names[i], .link = i});
  std::move(below.begin(), below.end(), std::back_inserter(all_));
  arrange();
}

void Layout::add(Line line) {
  line.height = line.is_group()                                                       ? kGroupHeight
                : line.kind == Line::Kind::kLink || line.kind == Line::Kind::kCounter ? kLinkHeight
                                                                                      : kSpansHeight;
  for (Line& group : all_) {
    if (line.kind == Line::Kind::kSpans && group.is_group() && contains(group, line))
      group.rows.push_back(line.rows.front());
  }
  all_.push_back(std::move(line));
}

/// What a stranger can take in at first: a few devices, their lanes where they are few.
void Layout::close_what_is_much() {
  const auto inside = [this](const Line& group, Line::Kind kind) {
    return static_cast<std::size_t>(
        std::count_if(all_.begin(), all_.end(), [&](const Line& l) { return l.kind == kind && contains(group, l); }));
  };
  std::size_t devices = 0;
  for (const Line& line : all_) {
    const std::size_t lanes = line.kind == Line::Kind::kLanes ? line.rows.size() : 0;
    devices += line.kind == Line::Kind::kDevice;
    const bool many = lanes > kOpenLanes || (lanes > 0 && devices > 2) ||
                      (line.kind == Line::Kind::kDevice && devices > kOpenDevices) ||
                      (line.kind == Line::Kind::kLinks && inside(line, Line::Kind::kLink) > kOpenLinks);
    if (many) closed_.insert(line.key);
  }
}

void Layout::arrange() {
  lines_.clear();
  const std::string wanted = lower(filter_);
  std::vector<Line> scrolled;
  std::string closed;  // the outermost closed group, with what is in it
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Line line = all_[i];
    line.open = !closed_.contains(line.key);
    line.pinned = pinned_.contains(line.key);
    const bool has =
        wanted.empty() || lower(line.key).find(wanted) != std::string::npos ||
        std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(i), all_.end(), [&](const Line& other) {
          return line.is_group() && contains(line, other) && lower(other.key).find(wanted) != std::string::npos;
        });
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
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), y,
                                      [](int wanted, const Line& line) { return wanted < line.bottom(); });
  return y < 0 ? lines_.size() : static_cast<std::size_t>(after - lines_.begin());
}

std::size_t Layout::line_of_row(std::size_t row) const {
  const auto line = std::find_if(lines_.begin(), lines_.end(),
                                 [&](const Line& l) { return l.kind == Line::Kind::kSpans && l.rows.front() == row; });
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

}  // namespace tutti::gui
