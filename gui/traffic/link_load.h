#pragma once

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// The load (0 to 1) above which a link is drawn as full.
inline constexpr double kFullLoad = 0.95;

/// Returns the load of a link in [from, to): the bytes that the link carried in this time, divided
/// by the bytes that it could have carried. The load is between 0 and 1. The timeline records the
/// bytes that the link carried in each bin, that is, in each of several consecutive intervals of
/// time. Within a bin, the bytes are spread evenly over the bin's time. Outside of the bins, the
/// link carries no bytes.
/// REQUIRES: from < to.
double load_of(const core::LinkRecord& link, core::Time from, core::Time to);
/// Returns the load in the bin that contains `t`.
double load_at(const core::LinkRecord& link, core::Time t);

}  // namespace tutti::gui
