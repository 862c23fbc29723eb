#pragma once

#include <string>
#include <vector>

#include "gui/traffic/topology.h"

namespace tutti::gui {

struct Point {
  double x = 0;
  double y = 0;
};
using Line2 = std::vector<Point>;  ///< a polyline of at least two points

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] Point centre() const { return {x + width / 2, y + height / 2}; }
};

/// The positions of all parts of a drawn topology. Workers are boxes in a grid. In each box,
/// network cards are at the top. Below the network cards are CPUs, PCIe switches, GPUs and
/// NVSwitches, in this order. As far as there is space, nodes are centred above the nodes of lower
/// rows to which they are connected. Links between adjacent nodes are straight; other links within
/// a row are arcs. The network is drawn as a bar above every row of boxes. All bars are connected
/// at the left. Lengths are in pixels of a picture at full size.
struct TopologyLayout {
  std::vector<Box> nodes;
  struct Worker {
    std::int32_t worker = 0;
    Box box;
  };
  std::vector<Worker> workers;
  std::vector<Box> network;  ///< the bars of the network; the first bar is also in `nodes`
  double trunk = 0;          ///< the x coordinate of the line that connects the bars
  /// The centre line of each link. The two directions of a link are drawn next to each other.
  std::vector<Line2> links;
  std::vector<double> widths;
  Box bounds;
};

/// Computes the layout. `aspect`: the width of the area to fill, divided by its height.
TopologyLayout lay_out(const Topology& topology, double aspect);

/// Returns the point of the line at the fraction `share` of its length, from 0 (start) to 1 (end).
/// REQUIRES: the line is not empty.
Point along(const Line2& line, double share);
/// Returns the path along consecutive links. Within the network, the path follows the bars and the
/// line that connects the bars.
Line2 path_along(const TopologyLayout& layout, const std::vector<std::size_t>& links);

}  // namespace tutti::gui
