#pragma once

#include <optional>
#include <vector>

#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// A message from one lane to another, as its receiver recorded it.
struct Message {
  SpanId from;         ///< the step that sent it
  SpanId to;           ///< the step that received it
  core::Time sent;     ///< when the sender had everything it waited for, and began to send
  core::Time arrived;  ///< when the message arrived for which the receiver waited
  bool operator==(const Message&) const = default;
};

/// Returns when a step had what it waited for. A damaged file may contain steps that waited longer
/// than they took.
core::Time begun(const core::Span& step);

/// Returns the message that a span received; nullopt if it received none, or if its sender is not
/// in the file. For `kReceiveAny` and similar kinds, the timeline records only one sender. ERRORS:
/// the timeline's file has changed since it was opened. Cost: linear in the sender's spans of that
/// pack.
core::Expected<std::optional<Message>> message_into(const Trace& trace, SpanId receiver);

/// Returns the messages that a span sent, by arrival. ERRORS: as above. Cost: linear in all lanes'
/// spans of that pack.
core::Expected<std::vector<Message>> messages_out_of(const Trace& trace, SpanId sender);

/// Returns all messages that spans of `rows` received and that were in flight at some time in
/// `range`; nullopt if these are more than `most` spans. ERRORS: as above.
core::Expected<std::optional<std::vector<Message>>> messages_in(
    const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range,
    std::size_t most);

}  // namespace tutti::gui
