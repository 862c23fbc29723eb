#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "gui/trace/run_plan.h"
#include "gui/traffic/traffic.h"

namespace tutti::gui {

class TimelineView;

/// Reconstructs the plan of the shown timeline, matches its messages and computes its counters, in
/// a thread. If two timelines are on one axis, read_side() selects the timeline to read.
class TrafficReader : public QObject {
  Q_OBJECT

 public:
  /// `library`: resolves the names of machines and models in scenarios. REQUIRES: the view outlives
  /// the reader.
  TrafficReader(TimelineView& view, core::Library library);
  ~TrafficReader() override { stop(); }

  /// Returns the plan. Returns null until ready() is emitted for the shown timeline. Also returns
  /// null if the plan could not be reconstructed; problem() then returns the reason.
  [[nodiscard]] const std::shared_ptr<const core::Scenario>& plan() const { return known_.plan; }
  [[nodiscard]] const std::shared_ptr<const Traffic>& traffic() const { return known_.traffic; }
  [[nodiscard]] const std::string& problem() const { return known_.problem; }
  [[nodiscard]] bool busy() const { return busy_; }
  /// Selects one of two timelines. If the selection changes, the signal ready() follows.
  void read_side(std::size_t side);
  /// Ends the work. After this call returns, no thread uses the timeline.
  void stop();
  /// Waits until the results are ready. This function is needed for pictures, which cannot be
  /// updated later.
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
  std::shared_ptr<const Trace>
      source_;  ///< the trace to which `known_` or the pending result belongs
  Known known_;
  bool busy_ = false;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::shared_ptr<Known>
      result_;  ///< the thread's result, which is read after the thread has ended
  std::jthread thread_;
};

}  // namespace tutti::gui
