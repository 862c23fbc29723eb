#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "gui/trace/packed_numbers.h"
#include "gui/trace/span_row.h"

namespace tutti::gui {

/// The schedule steps of a lane, for one row of the lane's spans. For each span, this class stores
/// the step, the step's pack, and the message that the step received. The times and kinds of spans
/// are stored only once, in the trace. Memory: each sequence of consecutive steps of one pack takes
/// 28 bytes; the messages take 0.6 bytes per step if senders and sizes are regular
/// (packed_numbers.h).
class LaneSteps {
 public:
  using Index = SpanRow::Index;

  /// Identifies the collective of a schedule step: a pack or an exchange of a training step.
  struct Key {
    std::int32_t step = 0;   ///< the training step
    std::int32_t pack = -1;  ///< the pack; kFirstExchange or less: an exchange
    auto operator<=>(const Key&) const = default;
  };
  static constexpr std::int32_t kFirstExchange = -2;

  /// A schedule step. The sender is only meaningful for steps that receive a message.
  struct Step {
    Key key;
    std::int64_t index = 0;        ///< the index of the step in its lane
    std::int32_t peer = -1;        ///< the sender's row; -1: unknown
    std::int64_t peer_index = -1;  ///< the index of the sending step in its lane
    core::Bytes bytes;             ///< the size of the message
  };

  LaneSteps() = default;
  /// `spans`: the finished row.
  explicit LaneSteps(SpanRow spans) : spans_(std::move(spans)) {}
  /// Describes the next span of the row. A step with an index that is not above the last index of
  /// its collective is skipped, because a damaged file may contain a step twice.
  void add(const Step& step, bool receives);
  /// Skips the next span of the row, because the span is not a valid step.
  void skip();
  /// Must be called after add() or skip() was called for every span, and before any query.
  void finish();

  [[nodiscard]] const SpanRow& spans() const { return spans_; }
  /// Returns the step of a span; nullopt if the span was skipped.
  [[nodiscard]] std::optional<Step> step(Index span) const;
  /// Returns the span of a step; nullopt if there is none.
  [[nodiscard]] std::optional<Index> find(const Key& key, std::int64_t index) const;
  /// Returns the number of steps of a collective that the lane had completed at `t`, including
  /// steps that were not recorded; 0 if the row has no step of the collective that ended by then.
  [[nodiscard]] std::int64_t done(const Key& key, core::Time t) const;

  /// Returns the memory in use without the shared columns, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::int32_t kSkipped = INT32_MIN;  ///< the pack of skipped spans
  /// Consecutive spans, which are consecutive steps of one collective.
  struct Run {
    Index first = 0;  ///< the first span
    Key key;
    std::int64_t index = 0;  ///< the index of the first step
  };
  [[nodiscard]] Index length(std::size_t run) const {
    return (run + 1 < runs_.size() ? runs_[run + 1].first : added()) - runs_[run].first;
  }
  [[nodiscard]] Index added() const { return static_cast<Index>(peers_.size()); }
  void append(const Key& key, std::int64_t index);
  /// Stores last_ as the message of the next span.
  void push_message();

  SpanRow spans_;
  std::vector<Run> runs_;
  /// The runs, sorted by collective, then by index. The runs of a collective are thus also sorted
  /// by their first spans, since indices of a collective increase (add()).
  std::vector<std::uint32_t> by_key_;
  /// For each span, the data of the message that its step received: the sender's row, the index of
  /// the sending step minus the index of the receiving step, and the bytes. A span that receives
  /// nothing repeats the values of the previous span.
  PackedNumbers peers_, peer_shifts_, bytes_;
  struct Message {
    std::int64_t peer = -1, peer_shift = -1, bytes = 0;
  };
  Message last_;  ///< the last message that was received
  /// The last index of each collective. Empty unless steps are being added.
  std::map<Key, std::int64_t> last_index_;
};

}  // namespace tutti::gui
