#include "gui/trace/messages.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/schedule/step.h"

namespace tutti::gui {

using core::Expected;
using core::Span;
using core::Time;

namespace {

/// Reads several consecutive spans from the file at a time, and caches them, since later queries
/// often need neighbouring spans.
class Stretches {
 public:
  explicit Stretches(const Trace& trace) : trace_(trace) {}

  /// Returns the span. REQUIRES: the row has it.
  Expected<Span> at(std::size_t row, SpanRow::Index i) {
    const SpanRow::Index stretch = i / kLength;
    auto there = read_.find({row, stretch});
    if (there == read_.end()) {
      const SpanRow::Index first = stretch * kLength;
      auto spans =
          trace_.spans(row, first, std::min(trace_.rows()[row].spans.size(), first + kLength));
      if (!spans) return tl::make_unexpected(spans.error());
      if (read_.size() >= kMax) read_.clear();
      there = read_.emplace(std::pair(row, stretch), std::move(*spans)).first;
    }
    return there->second[i % kLength];
  }

 private:
  static constexpr SpanRow::Index kLength = 4096;  // about a block of the file
  static constexpr std::size_t kMax = 200;         // 80 MB
  const Trace& trace_;
  std::map<std::pair<std::size_t, SpanRow::Index>, std::vector<Span>> read_;
};

/// Returns true if the span `to` records that it received the message of the span `from`.
bool is_received_from(const Span& to, const Span& from) {
  return to.step == from.step && to.pack == from.pack && to.peer_index == from.index;
}

bool is_lane(const Trace::Row& row) { return row.track.kind == core::TrackKind::kLane; }

/// Returns true if spans of this kind may receive a message.
bool may_receive(int kind) {
  return kind <= static_cast<int>(core::StepKind::kSwitchReduce) &&
         receives(static_cast<core::StepKind>(kind));
}

/// Returns the time at which the pack was complete on all devices in the training step; the end of
/// the run if the time is not recorded.
Time end_of_pack(const Trace& trace, std::size_t side, const Span& span) {
  for (const core::PackRecord& pack : trace.sides()[side].packs) {
    if (pack.step == span.step && pack.pack == span.pack) return pack.end;
  }
  return trace.length();
}

/// Returns the message that a span received. Searches for the sender backwards from the time of
/// receipt.
Expected<std::optional<Message>> message_of(const Trace& trace, Stretches& all, SpanId receiver) {
  const auto received = all.at(receiver.row, receiver.index);
  if (!received) return tl::make_unexpected(received.error());
  const Span& to = *received;
  const auto row = trace.row_of(to.peer);
  if (to.peer == core::kNoTrack || !row) return std::nullopt;
  const SpanRow& spans = trace.rows()[*row].spans;
  for (SpanRow::Index i = spans.first_from(to.start + to.duration + Time(1)); i > 0; --i) {
    if (spans.pack(i - 1) != to.pack) continue;
    const auto sent = all.at(*row, i - 1);
    if (!sent) return tl::make_unexpected(sent.error());
    const Span& from = *sent;
    if (from.step < to.step) return std::nullopt;
    if (is_received_from(to, from)) return Message{{*row, i - 1}, receiver, begun(from), begun(to)};
  }
  return std::nullopt;
}

}  // namespace

Time begun(const Span& step) { return step.start + std::min(step.wait, step.duration); }

Expected<std::optional<Message>> message_into(const Trace& trace, SpanId receiver) {
  Stretches all(trace);
  return message_of(trace, all, receiver);
}

Expected<std::vector<Message>> messages_out_of(const Trace& trace, SpanId sender) {
  Stretches all(trace);
  const auto read = all.at(sender.row, sender.index);
  if (!read) return tl::make_unexpected(read.error());
  const Span& sent = *read;
  const core::TrackId track = trace.rows()[sender.row].track.id;
  const Time until = end_of_pack(trace, trace.rows()[sender.row].side, sent);
  std::vector<Message> messages;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    const SpanRow& spans = trace.rows()[r].spans;
    if (!is_lane(trace.rows()[r])) continue;
    SpanRow::Index i = spans.first_from(sent.start);
    if (i > 0) --i;
    for (; i < spans.size() && spans.start(i) <= until; ++i) {
      if (spans.pack(i) != sent.pack || !may_receive(spans.kind(i))) continue;
      const auto received = all.at(r, i);
      if (!received) return tl::make_unexpected(received.error());
      const Span& to = *received;
      if (to.step > sent.step) break;
      if (to.peer != track || !is_received_from(to, sent)) continue;
      messages.push_back({sender, {r, i}, begun(sent), begun(to)});
      break;  // a lane receives the message once
    }
  }
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.arrived < b.arrived; });
  return messages;
}

Expected<std::optional<std::vector<Message>>> messages_in(const Trace& trace,
                                                          const std::vector<std::size_t>& rows,
                                                          const TimeRange& range,
                                                          std::size_t most) {
  Stretches all(trace);
  std::size_t left = most;
  std::vector<Message> messages;
  for (const std::size_t r : rows) {
    if (!is_lane(trace.rows()[r])) continue;
    const SpanRow& spans = trace.rows()[r].spans;
    SpanRow::Index i = spans.first_from(range.from);
    if (i > 0 && spans.end(i - 1) > range.from) --i;
    const SpanRow::Index end = spans.first_from(range.to);
    if (end - i > left) return std::nullopt;
    left -= end - i;
    for (; i < end; ++i) {
      const auto message = message_of(trace, all, {r, i});
      if (!message) return tl::make_unexpected(message.error());
      if (*message && (*message)->sent < range.to && (*message)->arrived >= range.from)
        messages.push_back(**message);
    }
  }
  return messages;
}

}  // namespace tutti::gui
