#pragma once

namespace tutti::gui {

class Actions;
class TimelineView;

/// What the timeline can do, into the list of what the window can do. REQUIRES: the view outlives the actions.
void add_timeline_actions(Actions& actions, TimelineView& view);

}  // namespace tutti::gui
