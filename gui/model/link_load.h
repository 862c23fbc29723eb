#pragma once

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// Above this a link counts as full, here and in every picture of it.
inline constexpr double kFullLoad = 0.95;

/// How full a link is in [from, to): its bytes of that time beside those that it could carry, 0 … 1, from the timeline's
/// bins, each taken as even. 0 where there are none. REQUIRES: from < to.
double load_of(const core::LinkRecord& link, core::Time from, core::Time to);
/// The same in the bin that `t` lies in.
double load_at(const core::LinkRecord& link, core::Time t);

}  // namespace tutti::gui
