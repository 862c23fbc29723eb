#pragma once

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// The load (0 to 1) above which a link is drawn as full.
inline constexpr double kFullLoad = 0.95;

/// Returns the load of a link in [from, to), from 0 to 1: the bytes that it carried, divided by its
/// capacity in that time. The bytes come from the bins of the link's record in the timeline. Within
/// a bin, the bytes are spread evenly over the bin's time. A link carries no bytes outside of the
/// bins.
/// REQUIRES: from < to.
double load_of(const core::LinkRecord& link, core::Time from, core::Time to);
/// Returns the load in the bin that contains `t`.
double load_at(const core::LinkRecord& link, core::Time t);

}  // namespace tutti::gui
