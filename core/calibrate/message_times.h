#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// Collects the transfer times of the messages in a timeline. The transfer of a message begins when
/// both its send step and its receive step may start, and ends when the receive step is complete.
/// The transfer time includes the latency and, if the receiver's step reduces, the reduction.
///
/// Messages of steps that forward received data (such as kReceiveSend) are excluded, because a
/// timeline does not contain the time at which such a step began to send.
class MessageTimes {
 public:
  struct Message {
    TrackId sender = kNoTrack;
    TrackId receiver = kNoTrack;
    std::int32_t step = 0;  ///< training step
    std::int32_t pack = 0;
    std::int32_t kind = 0;  ///< StepKind of the receiver's step
    Bytes bytes;
    Time start;  ///< time from which on both the send step and the receive step could proceed
    Time end;    ///< time at which the receiver's step was complete
    double us = 0;
    double way_us = 0;  ///< time in µs between the moment from which on the send step could proceed
                        ///< and `end`; includes waiting for a late receiver
  };

  /// Adds a span of a lane. Spans may come in any order.
  void span(TrackId track, const Span& span);
  /// Returns the messages of all spans so far.
  [[nodiscard]] std::vector<Message> messages() const;

 private:
  /// Identifies a schedule step: track, training step, pack and index in the lane.
  using StepId = std::tuple<TrackId, std::int32_t, std::int32_t, std::int64_t>;
  std::map<StepId, Time> sends_;  ///< for each send step, the time at which its lane had reached
                                  ///< the step and the connection had a free slot
  std::vector<std::pair<TrackId, Span>> receives_;
};

}  // namespace tutti::core
