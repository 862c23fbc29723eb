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
  std::vector<Resource> resources;  ///< links and cards of the route, in the order in which
                                    ///< messages cross them
  std::string stated;  ///< text with the kinds, bandwidths and latencies of the route's links;
                       ///< routes with the same text are comparable
};

/// The measured times of messages between devices, and of additions on devices, from all timelines.
struct Measurements {
  std::map<Ends, Samples> messages;
  /// For the same messages as in `messages`, the time from when the sender could start to send
  /// until the receive step is complete. These times include the latency even if the receiver was
  /// late.
  std::map<Ends, Samples> ways;
  std::map<Ends, Route> routes;
  std::map<DeviceAt, Samples> additions;
  std::map<DeviceAt, std::string> devices;  ///< stated parameters of each device, as a text
  /// The number of pairs of devices without enough usable messages, because messages between the
  /// two devices shared links with other messages.
  int crowded = 0;
  bool lane_steps = false;  ///< true if any timeline recorded lane steps
  bool in_memory = false;   ///< true if any timeline is of a run with devices that were emulated in
                            ///< the memory of their worker (RunInfo::devices_in_memory)
  int steps = 0;
  /// For each training step that was ignored because workers waited too long for a CPU core: the
  /// waiting time, as a share of the time during which packs were in flight.
  std::vector<double> waits;
  /// The timelines that were ignored because only some of their packs are staged through host
  /// memory, so that the routes of messages are not known.
  std::vector<std::string> staged_differently;
};

/// The maximum time that workers may wait for CPU cores, as a share of the time during which packs
/// are in flight. Training steps with more waiting are not used to find outliers.
inline constexpr double kMaxWaitShare = 0.1;

/// Collects the times of messages and additions from timelines. Training steps in which workers
/// waited too long for CPU cores are ignored, because the wait would look like a slow link.
/// Emulated links and devices are ignored, too. Messages that shared a link at the same time are
/// ignored, unless they belong to the same pack and travel between the same devices.
/// ERRORS: a timeline, or the scenario in it, cannot be read.
Expected<Measurements> read_measurements(const Scenario& scenario,
                                         const std::vector<std::string>& timelines,
                                         const Library& library);

}  // namespace tutti::core
