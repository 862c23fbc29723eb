#pragma once

#include <optional>
#include <vector>

#include "gui/model/time_range.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// A message from one lane to another, as its receiver recorded it.
struct Message {
  SpanId from;         ///< the step that sent it
  SpanId to;           ///< the step that received it
  core::Time sent;     ///< when the sender had waited, and began
  core::Time arrived;  ///< when the receiver had waited for it
  bool operator==(const Message&) const = default;
};

/// When a step had what it waited for. A damaged file may say that it waited longer than it took.
core::Time begun(const core::Span& step);

/// The message that a span received; nothing if it received none, or its sender is not in the file. `kReceiveAny` and the like
/// tell of one sender.
/// ERRORS: the timeline's file has changed since it was opened. Cost: of the sender's spans of that pack.
core::Expected<std::optional<Message>> message_into(const Trace& trace, SpanId receiver);

/// The messages that a span sent, by arrival. ERRORS: as above. Cost: of all lanes' spans of that pack.
core::Expected<std::vector<Message>> messages_out_of(const Trace& trace, SpanId sender);

/// All messages that spans of `rows` received and that were under way at some time in `range`, if those spans are `most` at most;
/// nothing if they are more. ERRORS: as above.
core::Expected<std::optional<std::vector<Message>>> messages_in(const Trace& trace,
                                                                const std::vector<std::size_t>& rows,
                                                                const TimeRange& range, std::size_t most);

}  // namespace tutti::gui
