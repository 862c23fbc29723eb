#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace tutti::core {

/// Matches the messages that arrive at one rank with the rank's receives, as MPI does. A receive
/// gets the first message with its source and tag. A message goes to the first receive that it
/// matches. Receives may accept any source or any tag.
class MessageMatcher {
 public:
  static constexpr std::int64_t kAny = -1;

  /// Adds a message. Returns the receive that the message matches; nullopt if no posted receive
  /// matches, so that the message is stored.
  std::optional<std::int64_t> sent(std::int64_t source, std::int64_t tag, std::int64_t message) {
    auto best = receives_.end();
    // Receives with wildcards and receives without wildcards are in different queues. If both
    // queues have a match, the receive that was posted first gets the message.
    for (const Key& key : {Key{source, tag}, Key{source, kAny}, Key{kAny, tag}, Key{kAny, kAny}}) {
      const auto known = receives_.find(key);
      if (known == receives_.end()) continue;
      if (best == receives_.end() || known->second.front().order < best->second.front().order)
        best = known;
    }
    if (best == receives_.end()) {
      messages_[{source, tag}].push_back({next_++, message});
      return std::nullopt;
    }
    const Item taken = best->second.front();
    best->second.pop_front();
    if (best->second.empty()) receives_.erase(best);
    return taken.id;
  }
  /// Adds a receive. Returns the message that the receive matches; nullopt if no stored message
  /// matches, so that the receive waits.
  std::optional<std::int64_t> posted(std::int64_t source, std::int64_t tag, std::int64_t receive) {
    auto best = messages_.end();
    if (source != kAny && tag != kAny) {
      best = messages_.find({source, tag});
    } else {
      for (auto one = messages_.begin(); one != messages_.end(); ++one) {
        const auto& [from, with] = one->first;
        if ((source != kAny && source != from) || (tag != kAny && tag != with)) continue;
        if (best == messages_.end() || one->second.front().order < best->second.front().order)
          best = one;
      }
    }
    if (best == messages_.end()) {
      receives_[{source, tag}].push_back({next_++, receive});
      return std::nullopt;
    }
    const Item taken = best->second.front();
    best->second.pop_front();
    if (best->second.empty()) messages_.erase(best);
    return taken.id;
  }

  [[nodiscard]] bool empty() const { return messages_.empty() && receives_.empty(); }
  /// Returns a message that was not received; nullopt if all messages were received.
  [[nodiscard]] std::optional<std::int64_t> unreceived() const {
    return messages_.empty() ? std::nullopt : std::optional(messages_.begin()->second.front().id);
  }
  /// Returns a receive that matched no message; nullopt if every receive has matched a message.
  [[nodiscard]] std::optional<std::int64_t> unmatched_receive() const {
    return receives_.empty() ? std::nullopt : std::optional(receives_.begin()->second.front().id);
  }

 private:
  struct Item {
    std::int64_t order = 0;
    std::int64_t id = 0;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  ///< source and tag
  using Queue = std::deque<Item>;

  std::int64_t next_ = 0;
  std::map<Key, Queue> messages_, receives_;  ///< by source and tag; no queue is ever empty
};

}  // namespace tutti::core
