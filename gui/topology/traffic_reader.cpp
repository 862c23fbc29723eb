#include "gui/topology/traffic_reader.h"

#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

TrafficReader::TrafficReader(TimelineView& view, core::Library library)
    : view_(view), library_(std::move(library)) {
  connect(&view, &TimelineView::trace_changed, this, &TrafficReader::begin);
}

void TrafficReader::stop() {
  if (cancel_) *cancel_ = true;
  if (thread_.joinable()) thread_.join();
  if (busy_) source_.reset();
  busy_ = false;
}

void TrafficReader::wait() {
  if (!busy_) return;
  thread_.join();
  const auto cancel = cancel_;
  const Known known = *result_;
  // Take the thread's result immediately. The event by which the thread reports its result is
  // processed only later.
  *cancel = true;
  take(known);
}

std::shared_ptr<const Trace> TrafficReader::wanted() {
  const std::shared_ptr<const Trace> trace = view_.shared_trace();
  if (!trace || !trace->parts()) {
    side_ = 0;
    return trace;
  }
  // Forget the source trace if it belongs to neither of the two timelines.
  const auto& side = trace->parts()->source(side_);
  return side == source_ ? side : nullptr;
}

void TrafficReader::begin() {
  const std::shared_ptr<const Trace> trace = wanted();
  if (trace && trace == source_) {  // aligned differently, or shown alone again
    if (!busy_) take(known_);
    return;
  }
  read(trace);
}

void TrafficReader::read_side(std::size_t side) {
  const std::shared_ptr<const Trace> trace = view_.shared_trace();
  if (!trace || !trace->parts()) return;
  side_ = side;
  if (trace->parts()->source(side) != source_) read(trace->parts()->source(side));
}

void TrafficReader::read(const std::shared_ptr<const Trace>& trace) {
  stop();
  known_ = {};
  source_ = trace;
  if (!trace) {
    emit ready();
    return;
  }
  busy_ = true;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  result_ = std::make_shared<Known>();
  thread_ = std::jthread([this, trace, library = library_, cancel = cancel_, result = result_] {
    const auto thrown = guarded([&] {
      if (auto plan = plan_of_run(*trace, library)) {
        result->plan = *plan;
      } else {
        result->problem = "The scenario of this timeline cannot be read (" +
                          plan.error().problems().front().text +
                          "), so the contents of devices are unknown.";
      }
      auto traffic = Traffic::read(*trace, cancel.get());
      if (traffic) {
        result->traffic = *traffic;
      } else {
        result->problem = traffic.error().message();
      }
    });
    if (thrown) result->problem = thrown->message();
    if (*cancel) return;
    tell(this, [this, cancel, result] {
      if (!*cancel) take(*result);
    });
  });
}

void TrafficReader::take(const Known& known) {
  busy_ = false;
  known_ = known;
  if (view_.trace() && !view_.trace()->parts()) view_.show_traffic(known_.traffic);
  emit ready();
}

}  // namespace tutti::gui
