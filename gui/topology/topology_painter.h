#pragma once

#include <QPainter>
#include <QRectF>
#include <optional>

#include "gui/paint/theme.h"
#include "gui/traffic/topology_layout.h"
#include "gui/traffic/topology_moment.h"

namespace tutti::gui {

/// The input for painting a topology. Lengths are in units of the layout, which the painter scales
/// to pixels.
struct TopologyScene {
  const Topology& topology;
  const TopologyLayout& layout;
  const TopologyMoment& moment;
  const Theme& theme;
  std::optional<std::size_t> node;  ///< the selected node
  std::optional<std::size_t> link;  ///< the selected link
};

/// Returns the colour of a link with this load. Colours range from a faint colour to the theme's
/// colour for link loads. Full links have a separate colour.
Pixel load_colour(const Theme& theme, double load);
/// Returns the colour of a piece of a pack, which shows how many ranks have contributed to the
/// piece. (The height of the piece shows the same.)
Pixel held_colour(const Theme& theme, std::int32_t contributions, std::int32_t contributors);
/// Paints a device's copy of a pack as columns, from the first element to the last. The height of a
/// column is its number of contributions as a share of all contributions. If `figures` is true,
/// columns that are wide enough also show their number of contributions.
void paint_held(QPainter& painter, const QRectF& box, const std::vector<PackReplay::Piece>& held,
                const TopologyMoment& moment, const Theme& theme, bool figures);

/// Paints the topology. `seen`: the visible part. `scale`: the number of pixels per unit. Details
/// that are too small at this scale are omitted.
void paint_topology(QPainter& painter, const TopologyScene& scene, const QRectF& seen,
                    double scale);

/// Returns the outline of a link's line as a polygon.
QPolygonF polygon_of(const Line2& line);

}  // namespace tutti::gui
