#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/paint/theme.h"
#include "gui/traffic/topology_layout.h"
#include "gui/traffic/topology_moment.h"

namespace tutti::gui {

/// A zoomable picture of the topology at one time. The wheel zooms at the mouse, dragging moves the
/// picture, a click or the arrow keys select a device or a link, and a double click shows the whole
/// topology. Only the visible part is painted, so painting a topology with thousands of nodes takes
/// a few milliseconds.
class TopologyView : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyView(QWidget* parent = nullptr);

  /// Sets the topology; null: nothing is shown. The function show_moment() sets the state of the
  /// topology.
  void show_topology(std::shared_ptr<const Topology> topology);
  /// REQUIRES: `moment` belongs to the topology that is shown.
  void show_moment(TopologyMoment moment);
  void set_theme(const Theme& theme);

  [[nodiscard]] const Topology* topology() const { return topology_.get(); }
  [[nodiscard]] const TopologyLayout& layout_of_nodes() const { return layout_; }
  [[nodiscard]] const TopologyMoment& moment() const { return moment_; }
  [[nodiscard]] std::optional<std::size_t> selected_node() const { return node_; }
  [[nodiscard]] std::optional<std::size_t> selected_link() const { return link_; }
  /// Returns the node under the mouse, or else the selected node.
  [[nodiscard]] std::optional<std::size_t> current_node() const {
    return hovered_ ? hovered_ : node_;
  }
  /// Converts a point of the layout to a position in the widget.
  [[nodiscard]] QPointF place_of(const Point& point) const;
  [[nodiscard]] double scale() const { return scale_; }

  [[nodiscard]] QSize sizeHint() const override { return {420, 420}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {140, 140}; }

 public slots:
  void select_node(std::optional<std::size_t> node);
  void select_link(std::optional<std::size_t> link);
  void fit();

 signals:
  /// Emitted when current_node() changes.
  void current_node_changed();
  /// Emitted when a link is selected in this view, by mouse or keys.
  void link_chosen(qulonglong link);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] Point point_at(const QPointF& position) const;
  [[nodiscard]] std::optional<std::size_t> node_under(const QPointF& position) const;
  [[nodiscard]] std::optional<std::size_t> link_under(const QPointF& position) const;
  void update_layout();
  void zoom(double factor, const QPointF& at);
  void walk(int dx, int dy);
  void walk_links(int by);
  void bring_into_view(const Point& point);

  std::shared_ptr<const Topology> topology_;
  TopologyLayout layout_;
  TopologyMoment moment_;
  const Theme* theme_;
  double scale_ = 1;
  QPointF origin_;  ///< the position of the layout's (0, 0) in the widget
  bool fitted_ = true;
  std::optional<std::size_t> node_, link_, hovered_;
  QPointF pressed_, pressed_origin_;
  bool dragging_ = false;
};

}  // namespace tutti::gui
