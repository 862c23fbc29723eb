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
  core::Time sent;     ///< when the sender had stopped waiting, and began to send
  core::Time arrived;  ///< when the receiver stopped waiting, as the message began to move
  bool operator==(const Message&) const = default;
};

/// Returns when a step stopped waiting, which is at most its end. (In a damaged file, a wait may be
/// longer than its step.)
core::Time begun(const core::Span& step);

/// Returns the message that a span received; nullopt if it received none, or if its sender is not
/// in the file. For `kReceiveAny` and similar kinds, the timeline records only one sender. ERRORS:
/// the timeline's file has changed since it was opened. Cost: linear in the sender's spans of that
/// pack.
core::Expected<std::optional<Message>> message_into(const Trace& trace, SpanId receiver);

/// Returns the messages that a span sent, in order of arrival. ERRORS: as above. Cost: linear in
/// all lanes' spans of that pack.
core::Expected<std::vector<Message>> messages_out_of(const Trace& trace, SpanId sender);

/// Returns all messages that were received by spans of `rows` and were in flight at some time in
/// `range`; nullopt if more than `most` spans lie in the range. ERRORS: as above.
core::Expected<std::optional<std::vector<Message>>> messages_in(
    const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range,
    std::size_t most);

}  // namespace tutti::gui
