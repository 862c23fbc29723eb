#pragma once

#include <string>
#include <vector>

#include "gui/model/topology.h"

namespace tutti::gui {

struct Point {
  double x = 0;
  double y = 0;
};
using Line2 = std::vector<Point>;  ///< from corner to corner, at least two

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] Point centre() const { return {x + width / 2, y + height / 2}; }
};

/// Where everything of a topology is drawn, by its structure: workers are boxes in a grid. In each, network cards are on
/// top, below them CPUs, PCIe switches, GPUs and NVSwitches, each above what it is joined to; links of neighbours are
/// straight, others of one row arcs. The network is a bar above every row of boxes, joined at the left. The unit is a
/// pixel at full size.
struct TopologyLayout {
  std::vector<Box> nodes;
  struct Worker {
    std::int32_t worker = 0;
    Box box;
  };
  std::vector<Worker> workers;
  std::vector<Box> network;  ///< the network's bars; nodes[] has the first
  double trunk = 0;          ///< x of what joins them
  std::vector<Line2> links;  ///< their middle; the two directions of a link run side by side
  std::vector<double> widths;
  Box bounds;
};

/// `aspect`: width over height of the area that it is to fill.
TopologyLayout lay_out(const Topology& topology, double aspect);

/// The point so far along, 0 … 1 of its length. REQUIRES: not empty.
Point along(const Line2& line, double share);
/// The way over links one behind the other; through the network along its bars, and what joins them.
Line2 way_over(const TopologyLayout& layout, const std::vector<std::size_t>& links);

}  // namespace tutti::gui
