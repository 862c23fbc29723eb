// Each piece of the critical path is divided into its parts, and each part is added to a tree along
// a list of names: the group, the cause, and the place. The boxes of a node are its children in
// descending order of time.

#include "gui/trace/path_flame.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tutti::gui {

using core::Breakdown;
using core::PathPiece;
using core::SpanKind;
using core::Time;

namespace {

struct FlameNode {
  FlameBox box;
  Time longest_part;  ///< the time of the longest part, which determines box.longest
  std::vector<FlameNode> children;
};

/// A part of a piece of the critical path.
struct FlamePart {
  std::vector<std::string> names;  ///< names of the levels below the root
  Time time;
  int kind = 0;
  bool waits = false;
  std::string where{};
};

bool is_communication(int kind) {
  return kind == SpanKind::kPackInFlight || kind == SpanKind::kExchange;
}

std::string flame_place_of(const PathPiece& piece) {
  if (piece.pack >= 0) return fmt::format("pack {}", piece.pack);
  // A piece of the backward pass ends when the gradients of its layer are ready, and computes the
  // gradients of the layers above, too.
  return piece.layer.empty() ? piece.device : fmt::format("until {} is done", piece.layer);
}

std::vector<FlamePart> flame_parts_of(const PathPiece& piece) {
  std::vector<FlamePart> parts;
  const std::string group = is_communication(piece.kind) ? "communication" : "computation";
  const auto add = [&](const std::string& cause, Time time, bool waits, const std::string& where) {
    if (time > Time())
      parts.push_back({{group, cause, flame_place_of(piece)}, time, piece.kind, waits, where});
  };
  Breakdown queue, rest = piece.parts;
  queue.queue = std::exchange(rest.queue, Time());
  for (const auto& [name, time] : core::named_parts(queue)) add(name, time, true, piece.queued_at);
  const Time longest = *std::max_element(rest.wire.begin(), rest.wire.end());
  Breakdown wires;
  wires.wire = std::exchange(rest.wire, {});
  for (const auto& [name, time] : core::named_parts(wires))
    add(name, time, false, time == longest ? piece.slowest_link : std::string());
  for (const auto& [name, time] : core::named_parts(rest)) add(name, time, false, {});
  add(core::span_name(piece.kind), piece.end - piece.start - piece.parts.total(), false, {});
  return parts;
}

void add_to(FlameNode& node, const FlamePart& part, const TimeRange& at) {
  node.box.time += part.time;
  if (part.time <= node.longest_part) return;
  node.longest_part = part.time;
  node.box.longest = at;
  node.box.where = part.where;
}

void add_part(FlameNode& root, const FlamePart& part, const TimeRange& at) {
  FlameNode* node = &root;
  add_to(*node, part, at);
  for (const std::string& name : part.names) {
    const auto found = std::find_if(node->children.begin(), node->children.end(),
                                    [&](const FlameNode& child) { return child.box.name == name; });
    if (found == node->children.end()) {
      FlameNode child;
      child.box.name = name;
      child.box.level = node->box.level + 1;
      child.box.kind = part.kind;
      child.box.waits = part.waits;
      child.box.side = root.box.side;
      node->children.push_back(std::move(child));
      node = &node->children.back();
    } else {
      node = &*found;
      node->box.waits = node->box.waits && part.waits;
    }
    add_to(*node, part, at);
  }
}

void place_boxes(FlameNode& node, Time begin, std::vector<FlameBox>& boxes) {
  node.box.begin = begin;
  boxes.push_back(node.box);
  std::stable_sort(node.children.begin(), node.children.end(),
                   [](const FlameNode& a, const FlameNode& b) { return a.box.time > b.box.time; });
  for (FlameNode& child : node.children) {
    place_boxes(child, begin, boxes);
    begin += child.box.time;
  }
}

}  // namespace

std::vector<FlameBox> path_flame(const Trace& trace) {
  std::vector<FlameBox> boxes;
  Time begin;
  for (std::size_t s = 0; s < trace.sides().size(); ++s) {
    const Side& side = trace.sides()[s];
    FlameNode root;
    root.box.name = side.name.empty() ? "critical path" : "critical path, " + side.name;
    root.box.side = s;
    root.box.kind = SpanKind::kPackInFlight;
    for (const PathPiece& piece : side.path) {
      for (const FlamePart& part : flame_parts_of(piece))
        add_part(root, part, {piece.start, piece.end});
    }
    if (root.box.time <= Time()) continue;
    place_boxes(root, begin, boxes);
    begin += root.box.time;
  }
  std::stable_sort(boxes.begin(), boxes.end(), [](const FlameBox& a, const FlameBox& b) {
    return std::pair(a.level, a.begin) < std::pair(b.level, b.begin);
  });
  return boxes;
}

}  // namespace tutti::gui
