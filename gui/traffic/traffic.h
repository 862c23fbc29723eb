#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gui/trace/run_plan.h"
#include "gui/trace/trace.h"
#include "gui/traffic/counter.h"

namespace tutti::gui {

/// A message, with all times on its way from the sending schedule step to the receiving schedule
/// step.
///
///     sent ── moves ─────────── left            of the step that sends
///               awaited ─────────────── taken   of the step that receives
///
/// If the sending step also receives, the timeline does not record when it began to send. For such
/// a step, `sent` is the time at which the message began to move, as recorded by its receiver. If
/// the receiver was not waiting at this time, `sent` is the time at which the sending step was
/// complete.
struct Transfer {
  core::Time sent;  ///< time at which the sending step stopped waiting
  /// The time at which the first link began to serve the message. This time is later than `sent` if
  /// the link was busy.
  core::Time moves;
  core::Time left;     ///< time at which the sending step was complete
  core::Time awaited;  ///< time at which the receiving step began
  core::Time taken;    ///< time at which the receiving step was complete
  /// The sending and the receiving device; -1: the device's schedule step was not recorded. For the
  /// result of an in-switch reduction, the receiving device also counts as the sender.
  std::int32_t from = -1;
  std::int32_t to = -1;
  std::int32_t step = 0;  ///< the training step
  std::int32_t pack = -1;
  core::Lane to_lane = 0;
  std::int64_t to_index = 0;  ///< the index of the receiving step
  core::Bytes bytes;

  /// Returns the share of the path that the message has travelled at time `t`, from 0 to 1. The
  /// result is 1 if the message has left its sender but has not been received. REQUIRES: sent ≤ t <
  /// taken.
  [[nodiscard]] double progress(core::Time t) const;
  [[nodiscard]] bool waits(core::Time t) const {
    return (t >= sent && t < moves) || (t >= left && t < awaited);
  }
};

/// All messages of a timeline, and the progress of each lane at any time. Timelines without lanes
/// (--record packs) have no messages. Memory: 60 bytes per recorded lane step, and 120 bytes per
/// message.
class Traffic {
 public:
  struct Device {
    std::int32_t worker = 0;
    std::string name;  ///< name of the device, such as "gpu1"
    auto operator<=>(const Device&) const = default;
  };
  /// Timelines with more lane steps than this are not read. The limit keeps the memory of this
  /// class below 1 GB.
  static constexpr std::int64_t kMaxSteps = 8'000'000;

  /// Reads a trace. ERRORS: the trace has more than kMaxSteps steps; the file has changed since it
  /// was opened; reading was cancelled (kRun).
  static core::Expected<std::shared_ptr<const Traffic>> read(
      const Trace& trace, const std::atomic<bool>* cancel = nullptr);

  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// Returns the number of a device; -1 if the device has no spans.
  [[nodiscard]] std::int32_t device(std::int32_t worker, const std::string& name) const;
  [[nodiscard]] bool has_steps() const { return steps_ > 0; }

  /// Returns all messages, ordered by `sent`.
  [[nodiscard]] const std::vector<Transfer>& transfers() const { return transfers_; }
  /// Returns the messages with sent ≤ t < taken. Cost: logarithmic per message.
  [[nodiscard]] std::vector<const Transfer*> in_flight(core::Time t) const;

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

  /// Returns the counter of the bytes of messages with sent ≤ t < taken.
  [[nodiscard]] const Counter& bytes_in_flight() const { return bytes_in_flight_; }
  /// Returns the counter of waiting messages. A message waits while its first link is busy. A
  /// message also waits when it has left its sender but the receiver is not ready.
  [[nodiscard]] const Counter& queue_depth() const { return queue_depth_; }

 private:
  /// The schedule steps that one lane executed for one pack or one exchange (a collective during
  /// computation) of a training step.
  struct Segment {
    std::vector<std::int64_t> indices;
    std::vector<core::Time> began;  ///< times at which the steps stopped waiting
    std::vector<core::Time> ends;
    std::vector<core::Time> starts;
    std::vector<std::int32_t> kinds;
    std::vector<core::Bytes> bytes;
    std::vector<Sender> senders;  ///< the senders, as recorded in the timeline
    /// The indices of the schedule steps that sent the messages, as recorded in the timeline.
    std::vector<std::int64_t> sender_indices;
    [[nodiscard]] std::size_t position(std::int64_t index) const;
  };
  /// Device, lane, training step and pack, in this order. A pack number of kFirstExchange or less
  /// denotes an exchange.
  using Key = std::tuple<std::int32_t, core::Lane, std::int32_t, std::int32_t>;
  static constexpr std::int32_t kFirstExchange = -2;

  core::Expected<void> read_steps(const Trace& trace, const std::atomic<bool>* cancel);
  void join();
  void add_message(const Key& key, const Segment& segment, std::size_t i);
  void count();

  std::vector<Device> devices_;
  std::map<Key, Segment> segments_;
  std::int64_t steps_ = 0;
  std::vector<Transfer> transfers_;
  /// last_taken_[0] has the maximum of `taken` of each 16 messages. last_taken_[1] has the maximum
  /// of each 16 entries of last_taken_[0], and so on.
  std::vector<std::vector<core::Time>> last_taken_;
  Counter bytes_in_flight_, queue_depth_;
};

/// Returns the names of the counters that the timeline shows. The names are available before the
/// counters are computed.
std::vector<std::string> counter_names(const Trace& trace);
/// A counter of a run and its name. The function counters_of() returns the counters in the order of
/// counter_names().
struct NamedCounter {
  std::string name;
  const Counter* counter = nullptr;
  bool bytes = false;  ///< true: a number of bytes; false: a number of messages
};
std::vector<NamedCounter> counters_of(const Traffic& traffic);

/// Returns, for each rank of a pack's collective, the number in Traffic of the rank's device; -1 if
/// the device has no spans. Returns an empty list if the collective has more ranks than the window
/// supports, or if several ranks share a device, so that a timeline cannot distinguish their lanes.
std::vector<std::int32_t> devices_of_ranks(const core::Collective& collective,
                                           const Traffic& traffic);

}  // namespace tutti::gui
