#include "gui/topology/traffic_reader.h"

#include "gui/model/guarded.h"
#include "gui/widgets/tell.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

TrafficReader::TrafficReader(TimelineView& view, core::Library library) : view_(view), library_(std::move(library)) {
  connect(&view, &TimelineView::trace_changed, this, &TrafficReader::begin);
}

void TrafficReader::stop() {
  if (cancel_) *cancel_ = true;
  if (thread_.joinable()) thread_.join();
  busy_ = false;
}

void TrafficReader::wait() {
  if (!busy_) return;
  thread_.join();
  const auto cancel = cancel_;
  const Known known = *result_;
  // What the thread has sent to be taken later is taken here.
  *cancel = true;
  take(known);
}

void TrafficReader::begin() {
  stop();
  known_ = {};
  const std::shared_ptr<const Trace> trace = view_.shared_trace();
  if (trace && trace->parts())
    known_.problem = "There are two timelines; close the second to look at messages and links.";
  if (!trace || trace->parts()) {
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
        result->problem = "The scenario of this timeline cannot be read here (" + plan.error().problems().front().text +
                          "), so what devices hold is not known.";
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
  view_.show_traffic(known_.traffic);
  emit ready();
}

}  // namespace tutti::gui
