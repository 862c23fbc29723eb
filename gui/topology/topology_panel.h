#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/traffic/topology_moment.h"
#include "gui/widgets/overlay.h"

class QComboBox;
class QHBoxLayout;
class QLabel;

namespace tutti::gui {

class Actions;
class HoldingBar;
class TimeCursor;
class TimelineView;
class TopologyLegend;
class TopologyView;
class TrafficReader;

/// A panel that shows the cluster at the time of the time cursor: the load of links, the chunks in
/// flight, and the content of each device's copy of the pack in flight. If two timelines are open,
/// the panel shows one of them. A link that is selected in the panel is also selected in the
/// timeline, and vice versa.
class TopologyPanel : public QWidget, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: all arguments outlive the panel.
  TopologyPanel(TimelineView& view, TimeCursor& cursor, TrafficReader& reader);

  /// Adds the panel's actions, and the actions of the time cursor, for which the panel has buttons.
  void add_actions(Actions& actions);

  void set_theme(const Theme& theme);
  /// Outlines the timeline row of the selected link.
  void paint(QPainter& painter, const Placement& place) const override;

  [[nodiscard]] TopologyView& topology_view() { return *topology_view_; }
  /// Returns the text below the picture.
  [[nodiscard]] QString words() const;
  /// Selects the node with this name ("w0/gpu1"); returns false if there is none.
  bool select_device(const QString& name);
  /// Selects a pack to show while it is in flight.
  void look_at(std::optional<PackOfStep> pack);
  /// Selects the timeline to show, if two timelines are on one axis.
  void show_side(std::size_t side);
  [[nodiscard]] std::size_t side() const { return side_; }

 private:
  [[nodiscard]] std::shared_ptr<const Trace> own_trace() const;
  /// Converts the position of the time cursor on the time axis to a time of the run that the panel
  /// shows.
  [[nodiscard]] core::Time own_moment() const;
  void fill_sides();
  void begin();
  void show_moment();
  void fill_packs();
  void tell();
  void link_chosen(std::size_t link);
  void link_clicked(std::size_t side, std::size_t record);

  TimelineView& view_;
  TimeCursor& cursor_;
  TrafficReader& reader_;
  TopologyView* topology_view_;
  TopologyLegend* legend_;
  HoldingBar* holding_;
  QHBoxLayout* top_;
  QComboBox* sides_;
  QComboBox* packs_;
  QLabel* words_;
  std::shared_ptr<const Topology> topology_;
  std::unique_ptr<TopologyPlayer> player_;
  std::size_t side_ = 0;
  std::optional<PackOfStep> wanted_;
  std::vector<PackOfStep> listed_;
  bool moment_is_old_ = true;

 protected:
  void showEvent(QShowEvent* event) override;
};

}  // namespace tutti::gui
