#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// The messages from one rank to another in a time range.
struct PairTraffic {
  std::int64_t messages = 0;
  double bytes = 0;
  core::Time time;  ///< total time for which messages moved, without the time that receivers waited
  /// Returns the bytes per second while messages moved; 0 if the messages took no time.
  [[nodiscard]] double rate() const;
};

/// The communication between ranks: a rank is a device, or all devices of a worker.
struct CommunicationMatrix {
  struct Rank {
    std::string name;  ///< such as "w0/gpu1" or "w0"
    std::string key;   ///< the beginning of the keys of the rank's lines in a layout
  };
  std::vector<Rank> ranks;  ///< in the order of rows
  /// The traffic of each pair of sender and receiver. Pairs without messages have no entry.
  std::map<std::pair<std::size_t, std::size_t>, PairTraffic> pairs;
};

struct CommunicationOptions {
  std::size_t side = 0;    ///< the timeline whose messages count
  bool by_worker = false;  ///< true: a rank is a worker
  /// If `cancel` becomes true, the computation stops, and the result may be incomplete.
  const std::atomic<bool>* cancel = nullptr;
};

/// Sums up the messages between ranks in a time range, as the receivers recorded them. If a message
/// crosses an edge of the range, only the part inside counts, with the corresponding part of its
/// bytes. ERRORS: the timeline's file has changed since it was opened. May be called from any
/// thread. Cost: linear in the number of spans in the range, which are read from the file.
core::Expected<CommunicationMatrix> communication_of(const Trace& trace, const TimeRange& range,
                                                     const CommunicationOptions& options = {});

/// Returns the number of devices of a side that have lanes.
std::size_t devices_with_lanes(const Trace& trace, std::size_t side);

}  // namespace tutti::gui
