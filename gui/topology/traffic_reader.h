#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "gui/model/run_plan.h"
#include "gui/model/traffic.h"

namespace tutti::gui {

class TimelineView;

/// Makes the plan of the timeline that is shown, and joins its messages, in a thread of its own; the timeline's counters follow. Of
/// two timelines on one axis it is one, and none before read_side() says which.
class TrafficReader : public QObject {
  Q_OBJECT

 public:
  /// `library`: where scenarios find what they name. REQUIRES: the view outlives it.
  TrafficReader(TimelineView& view, core::Library library);
  ~TrafficReader() override { stop(); }

  /// Null until ready() was emitted for the timeline that is shown, or if it could not be made: then problem() says why.
  [[nodiscard]] const std::shared_ptr<const core::Scenario>& plan() const { return known_.plan; }
  [[nodiscard]] const std::shared_ptr<const Traffic>& traffic() const { return known_.traffic; }
  [[nodiscard]] const std::string& problem() const { return known_.problem; }
  [[nodiscard]] bool busy() const { return busy_; }
  /// Of two timelines this one, if it is not that already: ready() follows then.
  void read_side(std::size_t side);
  /// Ends the work, and with it a thread that looks at the timeline.
  void stop();
  /// Until it is ready: for pictures, which are taken once.
  void wait();

 signals:
  void ready();

 private:
  struct Known {
    std::shared_ptr<const core::Scenario> plan;
    std::shared_ptr<const Traffic> traffic;
    std::string problem;
  };
  void begin();
  [[nodiscard]] std::shared_ptr<const Trace> wanted();
  void read(const std::shared_ptr<const Trace>& trace);
  void take(const Known& known);

  TimelineView& view_;
  core::Library library_;
  std::size_t side_ = 0;
  std::shared_ptr<const Trace> source_;  ///< of which `known_` is, or will be
  Known known_;
  bool busy_ = false;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::shared_ptr<Known> result_;  ///< of the thread; read when it has ended
  std::jthread thread_;
};

}  // namespace tutti::gui
