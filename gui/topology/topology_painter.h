#pragma once

#include <QPainter>
#include <QRectF>
#include <optional>

#include "gui/model/topology_layout.h"
#include "gui/model/topology_moment.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// What is to be painted of a topology. Lengths are those of the layout; the painter brings its own scale.
struct TopologyScene {
  const Topology& topology;
  const TopologyLayout& layout;
  const TopologyMoment& moment;
  const Theme& theme;
  std::optional<std::size_t> node;  ///< that is selected
  std::optional<std::size_t> link;  ///< that is selected
};

/// How a link of that load looks: from faint to the colour of link rows, and the colour of full ones.
Pixel load_colour(const Theme& theme, double load);
/// How a stretch of a pack looks that so many of all ranks have contributed to: the height says it too.
Pixel held_colour(const Theme& theme, std::int32_t contributions, std::int32_t contributors);
/// A pack as a device holds it, from the first element to the last: columns as high as their share of contributions. With
/// `figures`, those that are wide enough say how many.
void paint_held(QPainter& painter, const QRectF& box, const std::vector<PackReplay::Piece>& held,
                const TopologyMoment& moment, const Theme& theme, bool figures);

/// `seen`: the part that is to be painted; `scale`: pixels per unit, which decides what is too small to be drawn.
void paint_topology(QPainter& painter, const TopologyScene& scene, const QRectF& seen, double scale);

/// Of a link, the line that it is drawn as.
QPolygonF polygon_of(const Line2& line);

}  // namespace tutti::gui
