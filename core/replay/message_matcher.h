#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace tutti::core {

/// Matches the messages that are sent to one rank with the receives of this rank, as MPI does. A
/// receive gets the first message with the source and the tag of the receive, and a message goes to
/// the first receive with the source and the tag of the message. A receive may accept any source,
/// any tag, or both (wildcards).
class MessageMatcher {
 public:
  static constexpr std::int64_t kAny = -1;

  /// Adds a message. Returns the posted receive that gets the message. If there is none, stores the
  /// message and returns nullopt.
  std::optional<std::int64_t> sent(std::int64_t source, std::int64_t tag, std::int64_t message) {
    auto best = receives_.end();
    // There is a queue for each combination of source and tag, with or without wildcards. If
    // several queues match, the receive that was posted first gets the message.
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
  /// Adds a receive. Returns the stored message that the receive gets. If there is none, stores the
  /// receive and returns nullopt.
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
  /// Returns a message that no receive has taken; nullopt if there is none.
  [[nodiscard]] std::optional<std::int64_t> unreceived() const {
    return messages_.empty() ? std::nullopt : std::optional(messages_.begin()->second.front().id);
  }
  /// Returns a receive that has got no message; nullopt if there is none.
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
  std::map<Key, Queue> messages_, receives_;  ///< by source and tag; a queue is removed when it
                                              ///< becomes empty
};

}  // namespace tutti::core
