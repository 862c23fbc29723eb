#pragma once

namespace tutti::gui {

class Actions;
class TimelineView;

/// Adds the actions of the timeline to the window's list of actions. REQUIRES: the view outlives
/// the actions.
void add_timeline_actions(Actions& actions, TimelineView& view);

}  // namespace tutti::gui
