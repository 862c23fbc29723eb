#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A link, card or device whose rate or latency is not that of others of its kind, as messages and
/// additions have it.
struct Outlier {
  enum class What { kCard, kLink, kDevice };
  enum class Figure { kRate, kLatency };
  std::int64_t worker = 0;
  What what = What::kCard;
  std::string part;   ///< the card, the device, or one end of the link
  std::string other;  ///< the link's other end
  Figure figure = Figure::kRate;
  /// How many times as long it takes for the same bytes; of latencies, how many times as late what
  /// crosses it is.
  double slower = 1;
  double late_us = 0;  ///< of latencies, by how much

  [[nodiscard]] std::string name() const;  ///< "w2/nic0", "w0/gpu1-w0/gpu2"
  auto operator<=>(const Outlier&) const = default;
};

/// The outliers that were found, and notes on what was examined.
struct Outliers {
  std::vector<Outlier> list;
  std::vector<std::string> notes;
};

/// Looks at what each message and each addition in timelines took, wherever lane steps were
/// recorded.
///
/// Messages between two devices are held against those of the same length and kind of step between
/// others, over links that are stated to be alike (standing.h): how much longer each byte takes,
/// and how much every message. What counts is messages that a step of its own sends
/// (message_times.h), since what is passed on piece by piece as it comes goes at the pace of the
/// slowest link that it has crossed; and those that met no others (routes.h). A route that takes a
/// quarter more, or less, is not like the others.
///
/// A link is to blame for slow routes if no route over it is not slow; of several the one that
/// explains most routes, and of those the narrowest. Bytes go at the pace of the narrowest link, so
/// a fast route tells that all its narrow links are fast, and a fast link behind an ordinary one is
/// never seen. Latencies add, so both ways one link is to blame; cards have none of their own, so
/// that a card's is that of the link which joins it to its machine. The reference of a kind is the
/// figure that leaves the fewest outliers. If several links explain the slow routes equally well,
/// because every message over one also crosses the other, a note says so.
///
/// What links are stated to be is what `scenario` says; the timelines are of its cluster, whatever
/// their strategies. ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Outliers> find_outliers(const Scenario& scenario,
                                 const std::vector<std::string>& timelines, const Library& library);

}  // namespace tutti::core
