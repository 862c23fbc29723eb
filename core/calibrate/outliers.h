#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A link, network card or device whose measured rate or latency differs from that of other links,
/// cards or devices with the same stated parameters.
struct Outlier {
  enum class What { kCard, kLink, kDevice };
  enum class Figure { kRate, kLatency };
  std::int64_t worker = 0;
  What what = What::kCard;
  std::string part;   ///< name of the card or device, or of one end of the link
  std::string other;  ///< name of the link's other end; empty for cards and devices
  Figure figure = Figure::kRate;
  /// The relative slowdown. For an outlier in rate, it is the time per byte divided by the usual
  /// time per byte. For an outlier in latency, it is the latency divided by the usual latency. A
  /// value below 1 means faster than usual.
  double slower = 1;
  double late_us = 0;  ///< only for outliers in latency: the difference from the usual latency, in
                       ///< µs

  [[nodiscard]] std::string name() const;  ///< "w2/nic0", "w0/gpu1-w0/gpu2"
  auto operator<=>(const Outlier&) const = default;
};

/// The outliers that were found, with notes for the user about the examined data.
struct Outliers {
  std::vector<Outlier> list;
  std::vector<std::string> notes;
};

/// Finds links, cards and devices that are slower or faster than others of their kind. Uses the
/// times of messages and of additions (StepKind::kReduce), for which the timelines must have lane
/// steps.
///
/// Routes between devices are compared with each other if their links have the same stated
/// parameters. Only messages with the same length and the same kind of step are compared. Each
/// route has two results (relative_slowdown.h): its time per byte, divided by the time per byte of
/// similar routes, and its time per message, divided by the time per message of similar routes. A
/// route is slow if one of these ratios is at least 1.25, and fast if one is at most 1/1.25.
///
/// Two kinds of messages are ignored. Forwarded messages are limited by the slowest link that their
/// data has crossed before (message_times.h). Messages that shared a link with other messages do
/// not show the link's rate (routes.h).
///
/// A link may be the cause of slow routes if all routes over the link are slow. If several links
/// may be the cause, the link that is on the largest number of slow routes is reported; among links
/// with equal numbers, the link with the lowest bandwidth. If several links are on exactly the same
/// slow routes, a note lists them. The reference time of a route is a quantile (25, 50 or 75 %) of
/// the times of the routes with which it is compared; the quantile that gives the fewest outliers
/// is used.
///
/// The link with the lowest bandwidth limits a route. If a fast route has a higher
/// measured rate than the stated bandwidth of one of its links, this link is therefore fast. A fast
/// link cannot be detected if every route over the link also crosses a link that is not fast.
/// Network cards have no latency of their own; if a card causes a high latency, its link to the
/// machine is reported.
///
/// The stated parameters are those of `scenario`. The timelines must be from runs on the cluster of
/// `scenario`, but the runs may have used other strategies.
/// ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Outliers> find_outliers(const Scenario& scenario,
                                 const std::vector<std::string>& timelines, const Library& library);

}  // namespace tutti::core
