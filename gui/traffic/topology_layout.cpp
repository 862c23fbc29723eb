// The layout is computed in three steps. Inside each worker, nodes are in rows by kind. One row,
// usually the row of GPUs, and all rows below it are spaced evenly. Nodes of the rows above are
// centred over the nodes to which they are connected. Overlapping nodes of a row are then pushed
// apart, once from the left and once from the right. The boxes of the workers then form a grid,
// with the number of columns that allows the largest scale in the given area. Finally, links are
// drawn as straight lines, or as arcs if nodes of their row lie between their ends. The width of a
// link grows with the square root of its bandwidth. Each direction is shifted to its right, so that
// the two directions are visible side by side.

#include "gui/traffic/topology_layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tutti::gui {

namespace {

using Kind = Topology::Kind;

constexpr double kDeviceWidth = 50, kDeviceHeight = 40, kOtherWidth = 46, kOtherHeight = 18;
constexpr double kGap = 9;      ///< gap between the nodes of a row
constexpr double kRowGap = 36;  ///< gap between rows, in which links are visible
constexpr double kPadding = 12, kTitle = 16;
constexpr double kBoxGap = 26, kBar = 18, kBarGap = 24, kTrunk = 12;
constexpr double kWidest = 7, kNarrowest = 1.6;
constexpr double kArcShare = 0.17, kMinArc = 14, kMaxArc = 64;
constexpr int kRows = 5;

int row_of(Kind kind) {
  switch (kind) {
    case Kind::kNic: return 0;
    case Kind::kCpu: return 1;
    case Kind::kPcieSwitch:
    case Kind::kPart: return 2;
    case Kind::kGpu: return 3;
    default: return 4;
  }
}

/// The layout inside the box of a worker. The positions of nodes are relative to the box.
class Inside {
 public:
  Inside(const Topology& topology, const std::vector<std::size_t>& nodes,
         const std::map<std::size_t, std::vector<std::size_t>>& neighbours, std::vector<Box>& boxes)
      : topology_(topology), neighbours_(neighbours), boxes_(boxes), rows_(kRows) {
    for (const std::size_t n : nodes) rows_[row_of(topology.nodes()[n].kind)].push_back(n);
    width_ = 0;
    for (const auto& row : rows_) width_ = std::max(width_, width_of(row));
    place_rows();
    // Space the row with the most connections evenly. Starting from this row, place the nodes of
    // the rows above over the nodes to which they are connected, and space the rows below evenly.
    const int anchor = !rows_[3].empty() ? 3 : !rows_[1].empty() ? 1 : 2;
    spread(anchor);
    for (int row = anchor - 1; row >= 0; --row) gather(row);
    for (int row = anchor + 1; row < kRows; ++row) spread(row);
    // Place network cards above the switches to which they are connected. The switches are already
    // placed.
    gather(0);
  }
  [[nodiscard]] double width() const { return width_ + 2 * kPadding; }
  [[nodiscard]] double height() const { return height_; }

 private:
  static double width_of_node(Kind kind) {
    return kind == Kind::kGpu || kind == Kind::kCpu ? kDeviceWidth : kOtherWidth;
  }
  static double height_of_node(Kind kind) {
    return kind == Kind::kGpu || kind == Kind::kCpu ? kDeviceHeight : kOtherHeight;
  }
  [[nodiscard]] double width_of(const std::vector<std::size_t>& row) const {
    double width = row.empty() ? 0 : -kGap;
    for (const std::size_t n : row) width += width_of_node(topology_.nodes()[n].kind) + kGap;
    return width;
  }

  void place_rows() {
    double y = kPadding + kTitle;
    for (const auto& row : rows_) {
      double height = 0;
      for (const std::size_t n : row) {
        boxes_[n] = {0, y, width_of_node(topology_.nodes()[n].kind),
                     height_of_node(topology_.nodes()[n].kind)};
        height = std::max(height, boxes_[n].height);
      }
      if (!row.empty()) y += height + kRowGap;
    }
    height_ = y - kRowGap + kPadding + arc_room();
  }

  /// Returns the space needed below the last row for the arcs of its links.
  [[nodiscard]] double arc_room() const {
    const auto last =
        std::find_if(rows_.rbegin(), rows_.rend(), [](const auto& row) { return !row.empty(); });
    if (last == rows_.rend()) return 0;
    std::size_t farthest = 0;
    for (std::size_t i = 0; i < last->size(); ++i) {
      for (std::size_t j = i + 2; j < last->size(); ++j) {
        const auto near = neighbours_.find((*last)[i]);
        if (near != neighbours_.end() &&
            std::count(near->second.begin(), near->second.end(), (*last)[j]) > 0)
          farthest = std::max(farthest, j - i);
      }
    }
    return farthest == 0
               ? 0
               : std::clamp(kArcShare * static_cast<double>(farthest) * (kDeviceWidth + kGap),
                            kMinArc, kMaxArc);
  }

  void spread(int number) {
    const auto& row = rows_[number];
    double used = 0;
    for (const std::size_t n : row) used += boxes_[n].width;
    const double gap =
        (width_ - used) / static_cast<double>(row.size() + (row.size() == 1 ? 1 : 0));
    double x = kPadding + gap / 2;
    for (const std::size_t n : row) {
      boxes_[n].x = x;
      x += boxes_[n].width + gap;
    }
    if (row.size() == 1)
      boxes_[row.front()].x = kPadding + (width_ - boxes_[row.front()].width) / 2;
  }

  /// Centres each node of a row on the nodes to which it is connected, and shifts nodes until they
  /// do not overlap.
  void gather(int number) {
    auto row = rows_[number];
    if (row.empty()) return;
    std::map<std::size_t, double> wanted;
    for (const std::size_t n : row) {
      double sum = 0;
      int count = 0;
      const auto near = neighbours_.find(n);
      for (const std::size_t other :
           near == neighbours_.end() ? std::vector<std::size_t>() : near->second) {
        const int other_row = row_of(topology_.nodes()[other].kind);
        if (topology_.nodes()[other].worker < 0 || other_row <= number) continue;
        sum += boxes_[other].centre().x;
        ++count;
      }
      wanted[n] = count > 0 ? sum / count : kPadding + width_ / 2;
    }
    std::stable_sort(row.begin(), row.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    double free = kPadding;
    for (const std::size_t n : row) {
      boxes_[n].x = std::max(free, wanted[n] - boxes_[n].width / 2);
      free = boxes_[n].right() + kGap / 2;
    }
    double limit = kPadding + width_;
    for (auto n = row.rbegin(); n != row.rend(); ++n) {
      boxes_[*n].x = std::min(boxes_[*n].x, limit - boxes_[*n].width);
      limit = boxes_[*n].x - kGap / 2;
    }
  }

  const Topology& topology_;
  const std::map<std::size_t, std::vector<std::size_t>>& neighbours_;
  std::vector<Box>& boxes_;
  std::vector<std::vector<std::size_t>> rows_;
  double width_ = 0, height_ = 0;
};

class LayoutBuilder {
 public:
  LayoutBuilder(const Topology& topology, double aspect) : topology_(topology), aspect_(aspect) {}

  TopologyLayout run() {
    layout_.nodes.resize(topology_.nodes().size());
    for (const Topology::Link& link : topology_.links()) {
      neighbours_[link.from].push_back(link.to);
      neighbours_[link.to].push_back(link.from);
    }
    std::map<std::int32_t, std::vector<std::size_t>> workers;
    for (std::size_t n = 0; n < topology_.nodes().size(); ++n) {
      const Topology::Node& node = topology_.nodes()[n];
      if (node.worker < 0) {
        network_ = n;
      } else {
        workers[node.worker].push_back(n);
      }
    }
    for (const auto& [worker, nodes] : workers) {
      const Inside inside(topology_, nodes, neighbours_, layout_.nodes);
      layout_.workers.push_back({worker, {0, 0, inside.width(), inside.height()}});
      cell_width_ = std::max(cell_width_, inside.width());
      cell_height_ = std::max(cell_height_, inside.height());
    }
    place_workers(workers);
    draw_links();
    return std::move(layout_);
  }

 private:
  [[nodiscard]] double bar_room() const { return network_ ? kBar + kBarGap : 0; }

  /// Returns the number of columns of the grid of workers that allows the largest scale.
  [[nodiscard]] std::size_t columns() const {
    const std::size_t count = layout_.workers.size();
    std::size_t best = 1;
    double largest = 0;
    for (std::size_t c = 1; c <= count; ++c) {
      const std::size_t rows = (count + c - 1) / c;
      const double width = static_cast<double>(c) * (cell_width_ + kBoxGap);
      const double height = static_cast<double>(rows) * (cell_height_ + kBoxGap + bar_room());
      const double scale = std::min(aspect_ / width, 1 / height);
      if (scale > largest) largest = scale, best = c;
    }
    return best;
  }

  void place_workers(const std::map<std::int32_t, std::vector<std::size_t>>& workers) {
    const std::size_t columns = this->columns();
    const double left = network_ && layout_.workers.size() > columns ? kBoxGap : 0;
    for (std::size_t i = 0; i < layout_.workers.size(); ++i) {
      Box& box = layout_.workers[i].box;
      const auto row = static_cast<double>(i / columns), column = static_cast<double>(i % columns);
      box.x = left + column * (cell_width_ + kBoxGap);
      box.y = row * (cell_height_ + kBoxGap + bar_room()) + bar_room();
      for (const std::size_t n : workers.at(layout_.workers[i].worker)) {
        layout_.nodes[n].x += box.x;
        layout_.nodes[n].y += box.y;
      }
      if (network_ && i % columns == 0) {
        const auto boxes = static_cast<double>(std::min(columns, layout_.workers.size() - i));
        layout_.network.push_back(
            {left, box.y - bar_room(), boxes * cell_width_ + (boxes - 1) * kBoxGap, kBar});
      }
      layout_.bounds.width = std::max(layout_.bounds.width, box.right());
      layout_.bounds.height = std::max(layout_.bounds.height, box.bottom());
    }
    if (!network_) return;
    layout_.trunk = layout_.network.empty() ? 0 : layout_.network.front().x - kTrunk;
    if (layout_.network.empty()) layout_.network.push_back({0, 0, cell_width_, kBar});
    layout_.nodes[*network_] = layout_.network.front();
  }

  /// Returns the bar of the network that is above the worker of this node.
  [[nodiscard]] const Box& bar_above(const Box& node) const {
    const Box* best = &layout_.network.front();
    for (const Box& bar : layout_.network) {
      if (bar.y <= node.y) best = &bar;
    }
    return *best;
  }

  void draw_links() {
    std::int64_t most = 1;
    for (const Topology::Link& link : topology_.links())
      most = std::max(most, topology_.has_links() ? link.capacity.count() : link.bytes.count());
    for (const Topology::Link& link : topology_.links()) {
      const std::int64_t size = topology_.has_links() ? link.capacity.count() : link.bytes.count();
      const double share = std::sqrt(static_cast<double>(size) / static_cast<double>(most));
      const double width = kNarrowest + (kWidest - kNarrowest) * share;
      layout_.widths.push_back(width);
      Line2 line = middle_of(link);
      // Draw each direction of a link to the right of the line between the centres.
      shift(line, width / 2 + 0.7);
      layout_.links.push_back(std::move(line));
    }
  }

  [[nodiscard]] Line2 middle_of(const Topology::Link& link) const {
    const Box& a = layout_.nodes[link.from];
    const Box& b = layout_.nodes[link.to];
    const bool from_network = network_ && link.from == *network_,
               to_network = network_ && link.to == *network_;
    if (from_network || to_network) {
      const Box& node = from_network ? b : a;
      const Box& bar = bar_above(node);
      const double x = std::clamp(node.centre().x, bar.x, bar.right());
      Line2 line{{x, node.y}, {x, bar.bottom()}};
      if (from_network) std::reverse(line.begin(), line.end());
      return line;
    }
    const Topology::Node& from = topology_.nodes()[link.from];
    const Topology::Node& to = topology_.nodes()[link.to];
    if (from.worker == to.worker && row_of(from.kind) == row_of(to.kind))
      return in_one_row(link, a, b);
    return between(a, b);
  }

  /// Returns a line between the edges of two boxes, such as from the lower edge of the upper box to
  /// the upper edge of the lower box. The line between adjacent boxes is straight.
  static Line2 between(const Box& a, const Box& b) {
    const auto end = [](const Box& box, const Box& other) -> Point {
      const double towards = other.centre().x - box.centre().x;
      const double x = box.centre().x + std::clamp(towards / 4, -box.width / 3, box.width / 3);
      if (other.y >= box.bottom()) return {x, box.bottom()};
      if (other.bottom() <= box.y) return {x, box.y};
      return {towards > 0 ? box.right() : box.x, box.centre().y};
    };
    return {end(a, b), end(b, a)};
  }

  [[nodiscard]] Line2 in_one_row(const Topology::Link& link, const Box& a, const Box& b) const {
    const double left = std::min(a.right(), b.right()), right = std::max(a.x, b.x);
    bool free = true;
    for (const std::size_t n : comparison(link.from)) {
      if (n != link.from && n != link.to)
        free = free && (layout_.nodes[n].centre().x < left || layout_.nodes[n].x > right);
    }
    if (free) return between(a, b);
    const double from = a.centre().x, to = b.centre().x, y = std::max(a.bottom(), b.bottom());
    const double depth = 2 * std::clamp(kArcShare * std::abs(to - from), kMinArc, kMaxArc);
    // Give the arcs of a node different endpoints, so that the arcs can be distinguished.
    const double inset = std::clamp((to - from) / 16, -a.width / 3, a.width / 3);
    Line2 line;
    constexpr int kPieces = 14;
    for (int i = 0; i <= kPieces; ++i) {
      const double t = static_cast<double>(i) / kPieces;
      line.push_back({from + inset + (to - from - 2 * inset) * t, y + depth * 2 * t * (1 - t)});
    }
    return line;
  }

  [[nodiscard]] std::vector<std::size_t> comparison(std::size_t node) const {
    std::vector<std::size_t> found;
    const Topology::Node& own = topology_.nodes()[node];
    if (nodes_of_worker_.first != own.worker || nodes_of_worker_.second.empty()) {
      nodes_of_worker_ = {own.worker, {}};
      for (std::size_t n = 0; n < topology_.nodes().size(); ++n) {
        if (topology_.nodes()[n].worker == own.worker) nodes_of_worker_.second.push_back(n);
      }
    }
    for (const std::size_t n : nodes_of_worker_.second) {
      if (row_of(topology_.nodes()[n].kind) == row_of(own.kind)) found.push_back(n);
    }
    return found;
  }

  /// Shifts a line to the right, as seen in the line's direction.
  static void shift(Line2& line, double by) {
    Line2 shifted;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const Point& before = line[i == 0 ? 0 : i - 1];
      const Point& after = line[i + 1 < line.size() ? i + 1 : i];
      const double dx = after.x - before.x, dy = after.y - before.y;
      const double length = std::max(1e-9, std::hypot(dx, dy));
      shifted.push_back({line[i].x - dy / length * by, line[i].y + dx / length * by});
    }
    line = std::move(shifted);
  }

  const Topology& topology_;
  double aspect_;
  TopologyLayout layout_;
  std::map<std::size_t, std::vector<std::size_t>> neighbours_;
  std::optional<std::size_t> network_;
  double cell_width_ = 0, cell_height_ = 0;
  mutable std::pair<std::int32_t, std::vector<std::size_t>> nodes_of_worker_{-1, {}};
};

}  // namespace

TopologyLayout lay_out(const Topology& topology, double aspect) {
  return LayoutBuilder(topology, aspect).run();
}

Point along(const Line2& line, double share) {
  double length = 0;
  for (std::size_t i = 1; i < line.size(); ++i)
    length += std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
  double left = std::clamp(share, 0.0, 1.0) * length;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const double piece = std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
    if (left <= piece && piece > 0) {
      const double t = left / piece;
      return {line[i - 1].x + (line[i].x - line[i - 1].x) * t,
              line[i - 1].y + (line[i].y - line[i - 1].y) * t};
    }
    left -= piece;
  }
  return line.back();
}

Line2 path_along(const TopologyLayout& layout, const std::vector<std::size_t>& links) {
  Line2 way;
  // Returns the network bar that has the point on its edge.
  const auto bar_at = [&](const Point& p) -> const Box* {
    for (const Box& bar : layout.network) {
      if (p.x >= bar.x - 1 && p.x <= bar.right() + 1 && std::abs(p.y - bar.bottom()) < 1)
        return &bar;
    }
    return nullptr;
  };
  for (const std::size_t link : links) {
    const Line2& line = layout.links[link];
    const Box* const from = way.empty() ? nullptr : bar_at(way.back());
    const Box* const to = from ? bar_at(line.front()) : nullptr;
    if (from && to) {
      way.push_back({way.back().x, from->centre().y});
      if (from != to) {
        way.push_back({layout.trunk, from->centre().y});
        way.push_back({layout.trunk, to->centre().y});
      }
      way.push_back({line.front().x, to->centre().y});
    }
    way.insert(way.end(), line.begin(), line.end());
  }
  return way;
}

}  // namespace tutti::gui
