#include "core/calibrate/message_times.h"

#include <algorithm>

#include "core/schedule/step.h"

namespace tutti::core {

void MessageTimes::span(TrackId track, const Span& span) {
  if (span.kind < 0 || span.kind >= SpanKind::kFirstCompute || span.pack < 0) return;
  const auto kind = static_cast<StepKind>(span.kind);
  if (kind == StepKind::kSend) {
    sends_[{track, span.step, span.pack, span.index}] = span.start + span.wait;
  } else if (receives(kind) && span.peer != kNoTrack && span.bytes.count() > 0) {
    receives_.emplace_back(track, span);
  }
}

std::vector<MessageTimes::Message> MessageTimes::messages() const {
  std::vector<Message> messages;
  for (const auto& [track, span] : receives_) {
    const auto sent = sends_.find({span.peer, span.step, span.pack, span.peer_index});
    if (sent == sends_.end()) continue;
    const Time start = std::max(sent->second, span.start);
    const Time end = span.start + span.duration;
    if (end <= start) continue;
    messages.push_back({span.peer, track, span.step, span.pack, span.kind, span.bytes, start, end,
                        to_us(end - start), to_us(end - sent->second)});
  }
  return messages;
}

}  // namespace tutti::core
