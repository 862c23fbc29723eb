#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// The transfer times of a timeline's messages: from the time when both sender and receiver have
/// reached the message to the time when the receiver has completed it, including latency and, if
/// the receiving step reduces, the reduction. Only messages that a separate step sends are
/// included, since a step that forwards what it receives does not record when it began to send.
class MessageTimes {
 public:
  struct Message {
    TrackId sender = kNoTrack;
    TrackId receiver = kNoTrack;
    std::int32_t step = 0;  ///< training step
    std::int32_t pack = 0;
    std::int32_t kind = 0;  ///< kind of the receiver's step
    Bytes bytes;
    Time start;  ///< time when both sides had reached the message
    Time end;    ///< time when the receiver had completed it
    double us = 0;
    double way_us = 0;  ///< time since the sender reached the message: all of its way, and more if
                        ///< the receiver was late
  };

  /// Adds a span of a lane, in any order.
  void span(TrackId track, const Span& span);
  /// Returns the messages of all spans so far.
  [[nodiscard]] std::vector<Message> messages() const;

 private:
  /// Track, training step, pack and index of the lane's schedule step.
  using StepId = std::tuple<TrackId, std::int32_t, std::int32_t, std::int64_t>;
  std::map<StepId, Time> sends_;  ///< time when the lane had reached the step and had a slot
  std::vector<std::pair<TrackId, Span>> receipts_;
};

}  // namespace tutti::core
