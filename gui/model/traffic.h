#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gui/model/counter.h"
#include "gui/model/run_plan.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// The way of a message from the step that sent it to the step that took it, in full.
///
///     sent ── moves ─────────── left            of the step that sends
///               awaited ─────────────── taken   of the step that receives
///
/// What a timeline does not hold of a step that receives before it sends is when it began to send. Such a message counts
/// as sent when it moved, as its receiver saw it, or, if the receiver came later, when the sending step was through.
struct Transfer {
  core::Time sent;         ///< the sending step had all that it waited for
  core::Time moves;        ///< it got its first link: later than sent if that was busy
  core::Time left;         ///< the sending step was through
  core::Time awaited;      ///< the receiving step began
  core::Time taken;        ///< … and ended
  std::int32_t from = -1;  ///< devices; -1: its step was not recorded. An in-switch reduction is from its own device
  std::int32_t to = -1;
  std::int32_t step = 0;  ///< of training
  std::int32_t pack = -1;
  core::Lane to_lane = 0;
  std::int64_t to_index = 0;  ///< the receiving step's
  core::Bytes bytes;

  /// Where on its way it is, 0 … 1; 1 once it has left its sender and nobody has come to take it. REQUIRES: sent ≤ t < taken.
  [[nodiscard]] double progress(core::Time t) const;
  [[nodiscard]] bool waits(core::Time t) const { return (t >= sent && t < moves) || (t >= left && t < awaited); }
};

/// All messages that a timeline holds, and how far each lane has got at any time. Timelines without lanes (--record packs)
/// have none. 60 bytes per recorded lane step, and 120 per message.
class Traffic {
 public:
  struct Device {
    std::int32_t worker = 0;
    std::string name;  ///< "gpu1"
    auto operator<=>(const Device&) const = default;
  };
  /// More steps than that are not gone through: at most 1 GB of memory.
  static constexpr std::int64_t kMostSteps = 8'000'000;

  /// ERRORS: more than kMostSteps; the file has changed since; cancelled (kRun).
  static core::Expected<std::shared_ptr<const Traffic>> read(const Trace& trace,
                                                             const std::atomic<bool>* cancel = nullptr);

  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  /// By device; -1: it has no spans.
  [[nodiscard]] std::int32_t device(std::int32_t worker, const std::string& name) const;
  [[nodiscard]] bool has_steps() const { return steps_ > 0; }

  /// In order of `sent`.
  [[nodiscard]] const std::vector<Transfer>& transfers() const { return transfers_; }
  /// Those with sent ≤ t < taken. Cost: logarithmic for each of them.
  [[nodiscard]] std::vector<const Transfer*> in_flight(core::Time t) const;

  /// How far a lane of a device has got with a pack of a training step: steps that have ended by `t`.
  [[nodiscard]] std::int64_t steps_done(std::int32_t device, core::Lane lane, std::int32_t step, std::int32_t pack,
                                        core::Time t) const;
  /// The device and lane that a step took its message from; device -1 if that is not known.
  struct Sender {
    std::int32_t device = -1;
    core::Lane lane = 0;
  };
  [[nodiscard]] Sender sender(std::int32_t device, core::Lane lane, std::int32_t step, std::int32_t pack,
                              std::int64_t index) const;

  /// Bytes of messages with sent ≤ t < taken.
  [[nodiscard]] const Counter& bytes_in_flight() const { return bytes_in_flight_; }
  /// Messages that wait: for a link that is busy, or, having left their sender, for somebody to take them.
  [[nodiscard]] const Counter& queue_depth() const { return queue_depth_; }

 private:
  /// Steps of one lane in one flight of a pack, or in one exchange.
  struct Segment {
    std::vector<std::int64_t> indices;
    std::vector<core::Time> began;  ///< had what it waited for
    std::vector<core::Time> ends;
    std::vector<core::Time> starts;
    std::vector<std::int32_t> kinds;
    std::vector<core::Bytes> bytes;
    std::vector<Sender> senders;               ///< as the timeline has it
    std::vector<std::int64_t> sender_indices;  ///< likewise
    [[nodiscard]] std::size_t position(std::int64_t index) const;
  };
  /// Device, lane, step, pack; or, from kFirstExchange on downwards, the number of an exchange of that step.
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
  std::vector<std::vector<core::Time>> last_taken_;  ///< [0]: of each 16 messages; [1]: of each 16 of those; …
  Counter bytes_in_flight_, queue_depth_;
};

/// The counters that the timeline shows, known before they are worked out.
std::vector<std::string> counter_names(const Trace& trace);
/// The same of a run, in the same order.
struct NamedCounter {
  std::string name;
  const Counter* counter = nullptr;
  bool bytes = false;  ///< else a number of messages
};
std::vector<NamedCounter> counters_of(const Traffic& traffic);

/// The device of each rank of a pack's collective, as Traffic counts them; -1: it has no spans.
/// Empty: more ranks than the window follows, or several ranks on one device, whose lanes a timeline does not tell apart.
std::vector<std::int32_t> devices_of_ranks(const core::Collective& collective, const Traffic& traffic);

}  // namespace tutti::gui
