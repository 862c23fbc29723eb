#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Finds the step that sent each received message. The k-th message that lane B receives from lane
/// A is the k-th message that lane A sends to lane B.
class Senders {
 public:
  struct Sender {
    Rank rank = 0;
    Lane lane = 0;
    std::int64_t step = 0;
    bool operator==(const Sender&) const = default;
  };

  /// Cost: time and memory are proportional to the number of steps in the schedule.
  explicit Senders(const Schedule& schedule);

  /// Returns the step that sends the message that the given step receives; nullopt if the given
  /// step receives nothing or accepts any sender (kReceiveAny).
  [[nodiscard]] std::optional<Sender> of(Rank rank, Lane lane, std::int64_t step) const;

 private:
  using LaneId = std::pair<Rank, Lane>;
  using Connection = std::pair<LaneId, LaneId>;  ///< sending lane, receiving lane
  struct ReceivedMessage {
    LaneId from;
    std::size_t number = 0;  ///< index of the message among all messages on its connection
  };
  std::map<Connection, std::vector<std::int64_t>> sent_;  ///< for each connection: the indices of
                                                          ///< the steps that send
  std::map<LaneId, std::map<std::int64_t, ReceivedMessage>> received_;
};

}  // namespace tutti::core
