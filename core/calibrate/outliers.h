#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A link, card or device whose measured rate or latency deviates from that of others of its kind.
struct Outlier {
  enum class What { kCard, kLink, kDevice };
  enum class Figure { kRate, kLatency };
  std::int64_t worker = 0;
  What what = What::kCard;
  std::string part;   ///< the card, the device, or one end of the link
  std::string other;  ///< the link's other end
  Figure figure = Figure::kRate;
  /// The factor by which the same bytes take longer; for latencies, the factor by which messages
  /// are later.
  double slower = 1;
  double late_us = 0;  ///< additional us; for latencies only

  [[nodiscard]] std::string name() const;  ///< "w2/nic0", "w0/gpu1-w0/gpu2"
  auto operator<=>(const Outlier&) const = default;
};

/// The outliers that were found, and notes on the data that was examined.
struct Outliers {
  std::vector<Outlier> list;
  std::vector<std::string> notes;
};

/// Examines the times of all messages and additions in timelines that recorded lane steps.
///
/// Messages between two devices are compared with messages of the same length and kind of step
/// between other devices, over links with equal stated parameters (relative_slowdown.h): the
/// additional time per byte, and per message. Only messages of separate send steps count
/// (message_times.h), since a forwarded message is limited by the slowest link that its data has
/// crossed; and only messages that shared no link with others (routes.h). A route is an outlier if
/// it takes at least a quarter longer, or shorter.
///
/// A link is blamed for slow routes if all routes over it are slow; of several such links the one
/// that explains most routes, and of those the narrowest. The narrowest link limits the rate, so a
/// fast route shows that all its narrow links are fast, and a fast link behind an ordinary one
/// cannot be detected. Latencies add up, so one link is blamed for both directions; cards have no
/// latency themselves, so the latency of a card is that of its link to the machine. The reference
/// value of a kind is the one that leaves the fewest outliers. If several links explain the slow
/// routes equally well, because all messages cross all of them, a note says so.
///
/// The stated parameters are those of `scenario`; the timelines must be of its cluster, with any
/// strategies. ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Outliers> find_outliers(const Scenario& scenario,
                                 const std::vector<std::string>& timelines, const Library& library);

}  // namespace tutti::core
