#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/calibrate/outliers.h"
#include "core/calibrate/relative_slowdown.h"

namespace tutti::core {

using DeviceAt = std::pair<std::int32_t, std::string>;  ///< worker and name
using Ends = std::pair<DeviceAt, DeviceAt>;             ///< who sends, who receives

/// A link or card on a message's route that other messages may share, and its stated bandwidth.
struct Resource {
  Outlier outlier;
  Bandwidth stated;
  bool operator<(const Resource& other) const { return outlier < other.outlier; }
};

struct Route {
  std::vector<Resource> resources;  ///< in the order of the way
  std::string stated;               ///< kinds, rates and latencies
};

/// What timelines hold of messages between devices and of additions on them.
struct Heard {
  std::map<Ends, Samples> messages;
  std::map<Ends, Samples>
      ways;  ///< of the same messages from when they were sent; latencies are in them
  std::map<Ends, Route> routes;
  std::map<DeviceAt, Samples> additions;
  std::map<DeviceAt, std::string> devices;  ///< what each is stated to be
  /// Pairs of which so little is known only because their messages met others, so that what they
  /// took has waiting in it.
  int crowded = 0;
  bool lane_steps = false;  ///< were recorded in any of them
  bool in_memory = false;   ///< devices of some of them lay in the memory of their workers
                            ///< (RunInfo::devices_in_memory)
  int steps = 0;
  /// For each step whose workers waited for a core for more than kMuchWait of the time that packs
  /// were in flight: that share.
  std::vector<double> waits;
  /// Timelines whose packs do not all go through host memory alike, so that routes are not told by
  /// their ends: left out.
  std::vector<std::string> staged_differently;
};

/// Of the time that packs were in flight, the share of waiting for cores from which a step tells
/// nothing of single links.
inline constexpr double kMuchWait = 0.1;

/// What only waited for a core is no slow link: nothing is learnt from steps whose workers did, nor
/// of links and devices that were there in name alone. Only messages that met no others on any link
/// count, but for those of their own pack between the same devices. ERRORS: a timeline, or the
/// scenario in it, cannot be read.
Expected<Heard> hear(const Scenario& scenario, const std::vector<std::string>& timelines,
                     const Library& library);

}  // namespace tutti::core
