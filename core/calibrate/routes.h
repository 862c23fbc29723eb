#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/calibrate/outliers.h"
#include "core/calibrate/relative_slowdown.h"

namespace tutti::core {

using DeviceAt = std::pair<std::int32_t, std::string>;  ///< worker and name of the device
using Ends = std::pair<DeviceAt, DeviceAt>;             ///< sender and receiver

/// A link or card on a message's route that other messages may share, and its stated bandwidth.
struct Resource {
  Outlier outlier;
  Bandwidth stated;
  bool operator<(const Resource& other) const { return outlier < other.outlier; }
};

struct Route {
  std::vector<Resource> resources;  ///< in the order of the route
  std::string stated;               ///< kinds, rates and latencies of its links
};

/// Measurements of messages between devices, and of additions on devices, from timelines.
struct Heard {
  std::map<Ends, Samples> messages;
  /// Times of the same messages since they were sent, which include latencies.
  std::map<Ends, Samples> ways;
  std::map<Ends, Route> routes;
  std::map<DeviceAt, Samples> additions;
  std::map<DeviceAt, std::string> devices;  ///< stated parameters of each device
  /// Pairs with little data only because their messages shared links with others, so that their
  /// times include waiting.
  int crowded = 0;
  bool lane_steps = false;  ///< true if any timeline recorded lane steps
  bool in_memory = false;   ///< true if devices of some timelines were in the memory of their
                            ///< workers (RunInfo::devices_in_memory)
  int steps = 0;
  /// For each step in which workers waited for a core for more than kMuchWait of the time with
  /// packs in flight: that share.
  std::vector<double> waits;
  /// Timelines in which only some packs go through host memory, so that the ends of a message do
  /// not determine its route; they are ignored.
  std::vector<std::string> staged_differently;
};

/// The share of waiting for cores, of the time with packs in flight, above which a step is not used
/// to find outliers.
inline constexpr double kMuchWait = 0.1;

/// Collects the measurements of timelines. Steps in which workers waited for a core are ignored,
/// because the wait would look like a slow link, and so are links and devices that were not real.
/// Only messages that shared no link with others count, except for others of their own pack between
/// the same devices. ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Heard> hear(const Scenario& scenario, const std::vector<std::string>& timelines,
                     const Library& library);

}  // namespace tutti::core
