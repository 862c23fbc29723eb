#pragma once

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// The load above which a link counts as full, here and in every picture of it.
inline constexpr double kFullLoad = 0.95;

/// Returns the load of a link in [from, to), 0 … 1: its bytes in that time relative to its
/// capacity, from the timeline's bins, each assumed to be uniform. 0 outside of the bins. REQUIRES:
/// from < to.
double load_of(const core::LinkRecord& link, core::Time from, core::Time to);
/// Returns the load in the bin that contains `t`.
double load_at(const core::LinkRecord& link, core::Time t);

}  // namespace tutti::gui
