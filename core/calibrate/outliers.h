#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A link, network card or device whose measured rate or latency deviates from others of its kind.
struct Outlier {
  enum class What { kCard, kLink, kDevice };
  enum class Figure { kRate, kLatency };
  std::int64_t worker = 0;
  What what = What::kCard;
  std::string part;   ///< name of the card or device, or of one end of the link
  std::string other;  ///< the link's other end
  Figure figure = Figure::kRate;
  /// For rates, the factor by which the same bytes take longer than usual; for latencies, the ratio
  /// of the latency to the usual latency. Below 1: faster than usual.
  double slower = 1;
  double late_us = 0;  ///< for latencies: the difference from the usual latency, in µs

  [[nodiscard]] std::string name() const;  ///< "w2/nic0", "w0/gpu1-w0/gpu2"
  auto operator<=>(const Outlier&) const = default;
};

/// The outliers that were found, and notes about the data that was examined.
struct Outliers {
  std::vector<Outlier> list;
  std::vector<std::string> notes;
};

/// Finds links, cards and devices that are slower or faster than others of their kind, from the
/// times of messages and additions in timelines with lane steps.
///
/// Routes between devices are compared if their links have the same stated parameters. The
/// comparison is between messages of the same length and kind of step, and gives a relative time
/// per byte and per message (relative_slowdown.h). A route is slow or fast if its factor is at
/// least 1.25, or at most 1/1.25.
///
/// Two kinds of messages are ignored: those that a step forwards, because they are limited by the
/// slowest link that their data has crossed (message_times.h), and those that shared a link with
/// other messages (routes.h).
///
/// A link is the cause of slow routes if all routes over it are slow. If there are several such
/// links, the one on the most slow routes is taken, and among equals the one with the lowest
/// bandwidth. If several links are on exactly the same slow routes, a note says so. The reference
/// is the quantile (25, 50 or 75 %) of similar routes that gives the fewest outliers.
///
/// The link with the lowest bandwidth limits a route. So on a fast route, all links whose stated
/// bandwidth is too low for the measured rate must be fast. A fast link on a route with a normal
/// link cannot be detected. Cards have no latency of their own; a late card shows up as its link to
/// the machine.
///
/// Stated parameters are those of `scenario`. The timelines must be from runs on its cluster; their
/// strategies may differ.
/// ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Outliers> find_outliers(const Scenario& scenario,
                                 const std::vector<std::string>& timelines, const Library& library);

}  // namespace tutti::core
