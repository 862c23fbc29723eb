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

/// A link or card on the route of a message, and its stated bandwidth.
struct Resource {
  Outlier outlier;
  Bandwidth stated;
  bool operator<(const Resource& other) const { return outlier < other.outlier; }
};

struct Route {
  std::vector<Resource> resources;  ///< the route's resources, in the order in which messages pass
                                    ///< them
  std::string stated;  ///< kinds, bandwidths and latencies of the route's links; equal for
                       ///< comparable routes
};

/// The measured times of messages between devices, and of additions on devices, from all timelines.
struct Measurements {
  std::map<Ends, Samples> messages;
  /// The times of the messages in `messages`, measured from the time at which the sender reached
  /// the message. The times include the latency even if the receiver was late.
  std::map<Ends, Samples> ways;
  std::map<Ends, Route> routes;
  std::map<DeviceAt, Samples> additions;
  std::map<DeviceAt, std::string> devices;  ///< parameters of each device, as stated in the cluster
  /// The number of pairs of devices that cannot be compared because too many of their messages
  /// shared links with other messages.
  int crowded = 0;
  bool lane_steps = false;  ///< true if any timeline recorded lane steps
  bool in_memory = false;   ///< true if any timeline emulated devices in the memory of their worker
                            ///< (RunInfo::devices_in_memory)
  int steps = 0;
  /// One entry for each training step in which workers waited too long for a CPU core
  /// (kMaxWaitShare): the waiting time as a share of the time with packs in flight.
  std::vector<double> waits;
  /// Timelines that were ignored because only some of their packs are staged through host memory,
  /// so that sender and receiver do not determine the route.
  std::vector<std::string> staged_differently;
};

/// The share of the time with packs in flight that workers may wait for CPU cores. If workers wait
/// for a larger share, the training step is not used to find outliers.
inline constexpr double kMaxWaitShare = 0.1;

/// Collects the times of messages and additions from timelines. Training steps in which workers
/// waited too long for CPU cores are ignored, because the wait would look like a slow link.
/// Emulated links and devices are ignored, too. A message is ignored if it shared a link with other
/// messages, except with messages of the same pack between the same devices.
/// ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Measurements> read_measurements(const Scenario& scenario,
                                         const std::vector<std::string>& timelines,
                                         const Library& library);

}  // namespace tutti::core
