#pragma once

#include <optional>
#include <vector>

#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// A message from one lane to another, as recorded by the receiver.
struct Message {
  SpanId from;         ///< the schedule step that sent the message
  SpanId to;           ///< the schedule step that received the message
  core::Time sent;     ///< time at which the sender stopped waiting and began to send
  core::Time arrived;  ///< time at which the receiver stopped waiting because the message began to
                       ///< move
  bool operator==(const Message&) const = default;
};

/// Returns the time at which a schedule step stopped waiting, which is at most the end of the step.
/// (In a damaged file, the wait of a step may be longer than the step.)
core::Time begun(const core::Span& step);

/// Returns the message that a span received; nullopt if the span received no message, or if the
/// sender is not in the file. If a span receives messages from several senders (`kReceiveAny` and
/// similar kinds), the timeline records only one of the senders. ERRORS: the timeline's file has
/// changed since it was opened. Cost: linear in the number of the sender's spans of the same pack.
core::Expected<std::optional<Message>> message_into(const Trace& trace, SpanId receiver);

/// Returns the messages that a span sent, in order of arrival. ERRORS: as above. Cost: linear in
/// the number of spans of the same pack on all lanes.
core::Expected<std::vector<Message>> messages_out_of(const Trace& trace, SpanId sender);

/// Returns all messages that spans of `rows` received, and that were in flight during some part of
/// `range`. Returns nullopt if more than `most` spans are in the range. ERRORS: as above.
core::Expected<std::optional<std::vector<Message>>> messages_in(
    const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range,
    std::size_t most);

}  // namespace tutti::gui
