#pragma once

namespace tutti::gui {

class TimelineView;

/// Makes timelines readable for screen readers: a timeline is a list whose items are the spans in
/// view that are at least some pixels wide (TimelineView::readable_spans()). Each item has the
/// description, the duration and the box of its span. Must be called before the first timeline is
/// created; later calls do nothing.
void make_timelines_accessible();

/// Tells screen readers that the selected span is now the current item of the timeline. Does
/// nothing if no screen reader is active.
void report_focus(TimelineView& view);

}  // namespace tutti::gui
