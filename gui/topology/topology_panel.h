#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/model/topology_moment.h"
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

/// The cluster at the time cursor: load of its links, chunks on their way, and what each device holds of the pack that is
/// under way; of two timelines that of either one. A link that is selected here is selected in the timeline, and the other way about.
class TopologyPanel : public QWidget, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: all outlive the panel.
  TopologyPanel(TimelineView& view, TimeCursor& cursor, TrafficReader& reader);

  /// The cursor's, which get buttons here.
  void add_actions(Actions& actions);

  void set_theme(const Theme& theme);
  /// Outlines the line of the link that is selected.
  void paint(QPainter& painter, const Placement& place) const override;

  [[nodiscard]] TopologyView& topology_view() { return *topology_view_; }
  /// What is said below the picture.
  [[nodiscard]] QString words() const;
  /// Selects the node of that name ("w0/gpu1"); false if there is none.
  bool select_device(const QString& name);
  /// Looks at this pack while it is under way.
  void look_at(std::optional<PackOfStep> pack);
  /// Of two timelines on one axis that one: its name is in the panel.
  void show_side(std::size_t side);
  [[nodiscard]] std::size_t side() const { return side_; }

 private:
  [[nodiscard]] std::shared_ptr<const Trace> own_trace() const;
  /// When it is for the timeline that is shown here.
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
