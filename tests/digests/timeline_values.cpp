// Computes the digests and the printed values of a timeline. Digests and prints use visit(), which
// names every field of every record once. A visitor either hashes the fields or prints them. A new
// field of a record has to be added to visit(), or changes of it are not detected.

#include "tests/digests/timeline_values.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tests/digests/digest.h"

namespace tutti::test {

using core::Span;
using core::Track;
using core::TrackKind;

namespace {

/// Removes worker numbers: "w12/gpu3→network" becomes "w/gpu3→network".
std::string without_worker_numbers(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const bool begins =
        at == 0 || name[at - 1] == ' ' || (name[at - 1] & 0x80) != 0;  // the last byte of an arrow
    result += name[at];
    if (name[at++] != 'w' || !begins) continue;
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end < name.size() && name[end] == '/') at = end;
  }
  return result;
}

auto values_of(const Span& s) {
  return std::tuple(s.start.count(), s.duration.count(), s.step, s.pack, s.index, s.kind,
                    s.wait.count(), s.bytes.count(), s.peer_index);
}

std::string name_of(const Track& track) {
  return fmt::format("w{}/{}:{}:{}", track.worker, track.device, track.slot, track.lane);
}

class Hasher {
 public:
  void field(const char*, std::int64_t value) { digest_.add(value); }
  void field(const char*, std::string_view value) { digest_.add(value); }
  void end_of_record() { digest_.add(0x7265636f7264); }
  [[nodiscard]] std::string hex() const { return digest_.hex(); }

 private:
  Digest digest_;
};

class Counter {
 public:
  template <class Value>
  void field(const char*, const Value&) {}
  void end_of_record() { ++records; }
  std::size_t records = 0;
};

class Printer {
 public:
  explicit Printer(const std::function<void(const std::string&)>& line) : line_(line) {}
  void field(const char* name, std::int64_t value) { add(fmt::format("{}={}", name, value)); }
  void field(const char* name, std::string_view value) {
    add(fmt::format("{}=\"{}\"", name, value));
  }
  void end_of_record() {
    line_(text_);
    text_.clear();
  }

 private:
  void add(const std::string& field) { text_ += (text_.empty() ? "" : " ") + field; }
  const std::function<void(const std::string&)>& line_;
  std::string text_;
};

}  // namespace

std::string_view to_string(Section section) {
  switch (section) {
    case Section::kPlan: return "plan";
    case Section::kSteps: return "steps";
    case Section::kPacks: return "packs";
    case Section::kComputation: return "computation";
    case Section::kFlights: return "flights";
    case Section::kMessages: return "messages";
    case Section::kLinks: return "links";
    case Section::kBins: return "bins";
    case Section::kPath: return "path";
  }
  return "";
}

void TimelineValues::track(const Track& track) {
  const auto id = static_cast<std::size_t>(track.id);
  if (id >= tracks_.size()) tracks_.resize(id + 1);
  tracks_[id] = {track, name_of(track), std::move(tracks_[id].spans)};
}

void TimelineValues::span(core::TrackId track, const Span& span) {
  tracks_[track].spans.push_back(span);
}

void TimelineValues::sort() {
  in_order_.resize(tracks_.size());
  std::iota(in_order_.begin(), in_order_.end(), std::size_t{0});
  const auto key = [this](std::size_t i) {
    const Track& t = tracks_[i].track;
    return std::tie(t.kind, t.worker, t.device, t.slot, t.lane);
  };
  std::sort(in_order_.begin(), in_order_.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  for (OneTrack& one : tracks_) {
    std::sort(one.spans.begin(), one.spans.end(),
              [](const Span& a, const Span& b) { return values_of(a) < values_of(b); });
  }
  std::sort(steps_.begin(), steps_.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
  std::sort(packs_.begin(), packs_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.step, a.pack) < std::tie(b.step, b.pack);
  });
  std::sort(links_.begin(), links_.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.name, a.bytes.count(), a.kind) <
           std::tuple(b.name, b.bytes.count(), b.kind);
  });
}

std::size_t TimelineValues::size(Section section) const {
  Counter counter;
  visit(section, View::kAll, counter);
  return counter.records;
}

template <class Visitor>
void TimelineValues::visit_spans(TrackKind kind, View view, Visitor& visitor) const {
  for (const std::size_t i : in_order_) {
    const OneTrack& one = tracks_[i];
    if (one.track.kind != kind || (view == View::kOneWorker && one.track.worker != 0)) continue;
    for (const Span& s : one.spans) {
      visitor.field("on", one.name);
      visitor.field("start", s.start.count());
      visitor.field("duration", s.duration.count());
      visitor.field("wait", s.wait.count());
      visitor.field("kind", s.kind);
      visitor.field("step", s.step);
      visitor.field("pack", s.pack);
      visitor.field("index", s.index);
      visitor.field("bytes", s.bytes.count());
      if (s.peer != core::kNoTrack && view == View::kAll) {
        visitor.field("from", tracks_[s.peer].name);
        visitor.field("from_index", s.peer_index);
      }
      visitor.end_of_record();
    }
  }
}

template <class Visitor>
void TimelineValues::visit_path(View view, Visitor& visitor) const {
  const auto name = [view](const std::string& of) {
    return view == View::kAll ? of : without_worker_numbers(of);
  };
  for (const core::PathPiece& p : path_) {
    visitor.field("kind", p.kind);
    visitor.field("device", name(p.device));
    visitor.field("pack", p.pack);
    visitor.field("layer", p.layer);
    visitor.field("start", p.start.count());
    visitor.field("end", p.end.count());
    visitor.field("launch", p.parts.launch.count());
    for (const core::Time t : p.parts.wire) visitor.field("wire", t.count());
    visitor.field("latency", p.parts.latency.count());
    visitor.field("queue", p.parts.queue.count());
    visitor.field("reduce", p.parts.reduce.count());
    visitor.field("copy", p.parts.copy.count());
    visitor.field("slowest_link", name(p.slowest_link));
    visitor.field("queued_at", name(p.queued_at));
    visitor.field("queued_time", p.queued_time.count());
    visitor.end_of_record();
  }
}

template <class Visitor>
void TimelineValues::visit(Section section, View view, Visitor& visitor) const {
  const auto name = [view](const std::string& of) {
    return view == View::kAll ? of : without_worker_numbers(of);
  };
  switch (section) {
    case Section::kPlan:
      visitor.field("replicas", run_.replicas);
      visitor.field("gradient_bytes", run_.gradient_bytes.count());
      visitor.field("communication_bound", run_.communication_bound.count());
      visitor.field("step_bound", run_.step_bound.count());
      visitor.end_of_record();
      for (const core::RunInfo::PackInfo& pack : run_.packs) {
        visitor.field("bytes", pack.bytes.count());
        visitor.field("type", pack.type);
        for (const std::string& gradient : pack.gradients) visitor.field("gradient", gradient);
        visitor.end_of_record();
      }
      return;
    case Section::kSteps:
      for (const core::StepRecord& s : steps_) {
        visitor.field("step", s.step);
        visitor.field("start", s.start.count());
        visitor.field("end", s.end.count());
        visitor.field("slowest", name(s.slowest));
        visitor.field("forward", s.forward.count());
        visitor.field("backward", s.backward.count());
        visitor.field("other_compute", s.other_compute.count());
        visitor.field("communication", s.communication.count());
        visitor.field("exposed", s.exposed.count());
        visitor.field("awaited", name(s.awaited));
        visitor.field("awaited_for", s.awaited_for.count());
        visitor.field("slowed", s.slowed.count());
        visitor.end_of_record();
      }
      return;
    case Section::kPacks:
      for (const core::PackRecord& p : packs_) {
        visitor.field("step", p.step);
        visitor.field("pack", p.pack);
        visitor.field("ready", p.ready.count());
        visitor.field("first_start", p.first_start.count());
        visitor.field("last_start", p.last_start.count());
        visitor.field("end", p.end.count());
        visitor.end_of_record();
      }
      return;
    case Section::kComputation: return visit_spans(TrackKind::kCompute, view, visitor);
    case Section::kFlights: return visit_spans(TrackKind::kPacks, view, visitor);
    case Section::kMessages: return visit_spans(TrackKind::kLane, view, visitor);
    case Section::kLinks:
      for (const core::LinkRecord& l : links_) {
        visitor.field("link", l.name);
        visitor.field("kind", static_cast<std::int64_t>(l.kind));
        visitor.field("bandwidth", l.bandwidth.count());
        visitor.field("bytes", l.bytes.count());
        visitor.field("busy", l.busy.count());
        visitor.end_of_record();
      }
      return;
    case Section::kBins:
      for (const core::LinkRecord& l : links_) {
        // Links between switches belong to no worker, and do not occur in a run in which one worker
        // represents all.
        if (l.bins.empty() || (view == View::kOneWorker && l.name.find("w0/") == std::string::npos))
          continue;
        visitor.field("link", l.name);
        visitor.field("width", l.bin_width.count());
        for (const std::int64_t bytes : l.bins) visitor.field("bytes", bytes);
        visitor.end_of_record();
      }
      return;
    case Section::kPath: return visit_path(view, visitor);
  }
}

std::string TimelineValues::digest(Section section, View view) const {
  Hasher hasher;
  visit(section, view, hasher);
  return hasher.hex();
}

void TimelineValues::print(Section section, View view,
                           const std::function<void(const std::string&)>& line) const {
  Printer printer(line);
  visit(section, view, printer);
}

}  // namespace tutti::test
