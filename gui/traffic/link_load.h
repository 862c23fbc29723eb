#pragma once

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// The load above which a link counts as full, and is drawn as full.
inline constexpr double kFullLoad = 0.95;

/// Returns the load of a link in [from, to), from 0 to 1: the bytes that it carried, divided by its
/// capacity in that time. The bytes are those of the timeline's bins, each spread evenly over its
/// time; there are none outside of the bins. REQUIRES: from < to.
double load_of(const core::LinkRecord& link, core::Time from, core::Time to);
/// Returns the load in the bin that contains `t`.
double load_at(const core::LinkRecord& link, core::Time t);

}  // namespace tutti::gui
