#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/trace/run_plan.h"
#include "gui/trace/trace.h"
#include "gui/traffic/counter.h"
#include "gui/traffic/lane_steps.h"
#include "gui/traffic/transfer.h"

namespace tutti::gui {

class Exchanges;

/// All messages of a timeline, and the progress of each lane at any time. Timelines without lanes
/// (--record packs) have no messages. Messages are not stored, but computed from the schedule steps
/// on demand. Memory, in addition to the trace: about 1 byte per schedule step if the steps of a
/// lane are similar (equal sizes, one sender), otherwise more (lane_steps.h). A counter takes 17
/// bytes for each of its values, of which there are at most kMaxValues.
class Traffic {
 public:
  struct Device {
    std::int32_t worker = 0;
    std::string name;  ///< name of the device, such as "gpu1"
    auto operator<=>(const Device&) const = default;
  };
  /// Two counters over the time t of the run. `bytes_in_flight`: the bytes of all messages with
  /// Transfer::sent ≤ t < Transfer::taken. `queue_depth`: the number of messages that wait at time
  /// t, because their first link is busy, or because they have left their sender but the receiver
  /// is not ready.
  struct Counters {
    Counter bytes_in_flight, queue_depth;
  };
  /// The largest number of values of a counter of the whole run. If a run may have more changes,
  /// the counter of the whole run merges several changes into one value, which is their maximum.
  static constexpr std::size_t kMaxValues = 2'000'000;

  /// Reads a trace. REQUIRES: max_values ≥ 20. ERRORS: the file has changed since it was opened;
  /// reading was cancelled (kRun). Cost: about 0.5 µs per schedule step.
  static core::Expected<std::shared_ptr<const Traffic>> read(
      const Trace& trace, const std::atomic<bool>* cancel = nullptr,
      std::size_t max_values = kMaxValues);

  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// Returns the number of a device; -1 if the device has no spans.
  [[nodiscard]] std::int32_t device(std::int32_t worker, const std::string& name) const;
  [[nodiscard]] bool has_steps() const { return steps_ > 0; }
  /// Returns the bytes of all messages between each pair of different devices.
  [[nodiscard]] const std::map<std::pair<std::int32_t, std::int32_t>, core::Bytes>& bytes_between()
      const {
    return bytes_between_;
  }

  /// Returns the messages with Transfer::sent ≤ t < Transfer::taken, ordered by `sent`. Cost: for
  /// each lane, logarithmic in the lane's number of schedule steps.
  [[nodiscard]] std::vector<Transfer> in_flight(core::Time t) const;
  /// Calls `each` with every message for which Transfer::sent < range.to and Transfer::taken >
  /// range.from, lane by lane.
  void each_in(const TimeRange& range, const std::function<void(const Transfer&)>& each) const;

  /// Returns how many schedule steps a lane of a device had completed at `t`, for pack `pack` of
  /// training step `step`.
  [[nodiscard]] std::int64_t steps_done(std::int32_t device, core::Lane lane, std::int32_t step,
                                        std::int32_t pack, core::Time t) const;
  /// The sender of the message that a schedule step received, as a device and a lane; device -1:
  /// unknown.
  struct Sender {
    std::int32_t device = -1;
    core::Lane lane = 0;
  };
  [[nodiscard]] Sender sender(std::int32_t device, core::Lane lane, std::int32_t step,
                              std::int32_t pack, std::int64_t index) const;

  /// Returns the counters of the whole run; see kMaxValues.
  [[nodiscard]] const Counters& counters() const { return *counters_; }
  /// Returns counters that are valid in the range. If the range is short enough, the counters
  /// contain every change in the range; otherwise, they are the counters of the whole run. May be
  /// called from any thread. Cost: up to 50 ms; nothing if the range of the previous call contained
  /// this range.
  [[nodiscard]] std::shared_ptr<const Counters> counters_in(const TimeRange& range) const;

  /// Returns the memory in use in addition to the trace, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  struct Row {
    LaneSteps steps;
    std::int32_t device = -1;
    core::Lane lane = 0;
    /// earliest[0] has the minimum of `sent` over each group of 16 consecutive steps of the lane
    /// that receive messages. earliest[1] has the minimum of each group of 16 consecutive entries
    /// of earliest[0], and so on.
    std::vector<std::vector<core::Time>> earliest{};
    /// The maximum of a message's `taken` minus the end of its receiving step, over all messages of
    /// the lane. Differs from 0 only if the clocks of sender and receiver differ.
    core::Time late{};
  };
  using DeviceLane = std::pair<std::int32_t, core::Lane>;

  core::Expected<void> read_steps(const Trace& trace, const std::atomic<bool>* cancel);
  core::Expected<void> read_row(const Trace& trace, std::size_t r, const Exchanges& exchanges,
                                const std::map<core::TrackId, std::int32_t>& row_of_track);
  /// Computes everything that the queries about times need. Returns false if the computation was
  /// cancelled.
  bool index(const std::atomic<bool>* cancel);
  bool count(const std::vector<core::Time>& pieces, const std::atomic<bool>* cancel);
  [[nodiscard]] Counters exact_counters(const TimeRange& range) const;
  /// Returns the message that step `i` of a row received; nullopt if the step receives none.
  [[nodiscard]] std::optional<Transfer> message(const Row& row, SpanRow::Index i) const;
  /// Returns the step that sent a message, as a row and a span; nullptr if it was not recorded.
  [[nodiscard]] std::pair<const Row*, SpanRow::Index> sender_of(const LaneSteps::Step& step) const;
  [[nodiscard]] const std::vector<std::size_t>& rows_of(DeviceLane lane) const;

  std::vector<Device> devices_;
  std::vector<Row> rows_;  ///< the rows of the trace; only lanes have steps
  std::map<DeviceLane, std::vector<std::size_t>> rows_of_lane_;
  std::int64_t steps_ = 0, messages_ = 0;
  core::Bytes largest_message_;  ///< larger messages, which only a damaged file has, are shortened
  core::Time last_taken_;        ///< the time at which the last message was received
  std::map<std::pair<std::int32_t, std::int32_t>, core::Bytes> bytes_between_;
  std::size_t max_values_ = kMaxValues;
  std::shared_ptr<const Counters> counters_ = std::make_shared<Counters>();
  /// The number of changes that counters_ merges into one value.
  std::size_t merged_ = 1;
  mutable std::mutex page_lock_;
  /// The counters that counters_in() computed last, and the range in which they are valid.
  mutable std::shared_ptr<const Counters> page_;
  mutable TimeRange page_range_;
};

/// Returns the names of the counters that the timeline shows. The names are available before the
/// counters are computed.
std::vector<std::string> counter_names(const Trace& trace);
/// A counter of a run and its name. The function counters_of() returns the counters in the order of
/// counter_names().
struct NamedCounter {
  std::string name;
  std::shared_ptr<const Counter> counter;
  std::int64_t peak = 0;  ///< the maximum over the whole run
  bool bytes = false;     ///< true: a number of bytes; false: a number of messages
};
/// Returns counters that are valid in the range; see Traffic::counters_in().
std::vector<NamedCounter> counters_of(const Traffic& traffic, const TimeRange& range);

/// Returns, for each rank of a pack's collective, the number by which `traffic` identifies the
/// rank's device; -1 if the device has no spans. Returns an empty list if the collective has more
/// ranks than the window supports, or if several ranks share a device, so that a timeline cannot
/// distinguish their lanes.
std::vector<std::int32_t> devices_of_ranks(const core::Collective& collective,
                                           const Traffic& traffic);

}  // namespace tutti::gui
