#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/timeline/breakdown.h"

namespace tutti::core {

/// The records of a run, which form a timeline. Times are in picoseconds from the start of the run.
/// docs/timelines.md describes the file format.

/// The level of detail of a timeline. Each level also records what the previous levels record.
enum class RecordLevel {
  kNone,   ///< steps, packs, link totals and the critical path
  kPacks,  ///< like kNone, plus computation and packs in flight on each device
  kSteps,  ///< like kPacks, plus every schedule step of every lane
};

/// The description of a run, and its plan.
struct RunInfo {
  std::string scenario;  ///< name of the scenario
  std::string scenario_file;
  std::string scenario_text;  ///< text of the scenario, from which the run can be repeated
  std::string version;        ///< version of Tutti
  std::string executor;       ///< program that executed the run, for example "simulated"
  std::string network_model;
  std::uint64_t seed = 0;
  std::int64_t steps = 0;
  std::string cluster;  ///< for example "2 × dgx1-v100, 16 GPUs"
  std::string workload;
  std::string strategy;
  std::string timing;  ///< source of computation times
  std::int64_t replicas = 0;
  Bytes gradient_bytes;
  Time communication_bound;  ///< lower bound of the communication time, which no all-reduce
                             ///< algorithm can beat
  std::string bound_reason;
  Time step_bound;  ///< lower bound of the step time
  /// True for a real run in which the devices of each worker were emulated in the worker's memory.
  /// In such a run, the worker's only thread copies the bytes of messages between the devices.
  bool devices_in_memory = false;
  std::vector<std::string> notes;
  /// A pack of the plan. Pack numbers in records are indices into `packs`.
  struct PackInfo {
    std::vector<std::string> gradients;
    Bytes bytes;
    std::string type;
    /// NCCL's predicted choice: "Ring LL128, 24 channels × 640 threads". Empty if NCCL's cost model
    /// was not used.
    std::string nccl;
    /// The error band of the predicted time: in 8 of 10 measurements, the measured time divided by
    /// the predicted time is between `band_low` and `band_high`. 0 if not known.
    double band_low = 0, band_high = 0;
    /// The link that limits the predicted time. The prediction was increased to the time that this
    /// link needs to transfer the bytes. Empty if the prediction was not increased.
    std::string capped_at = {};
  };
  std::vector<PackInfo> packs;
  std::vector<std::string> layers;  ///< names of the backward segments
};

enum class TrackKind { kCompute = 0, kPacks = 1, kLane = 2 };
using TrackId = std::int32_t;
inline constexpr TrackId kNoTrack = -1;

/// A track of a timeline: a row of spans that do not overlap.
struct Track {
  TrackId id = 0;
  TrackKind kind = TrackKind::kCompute;
  std::int32_t worker = 0;
  std::string device;      ///< for example "gpu0"
  std::int32_t slot = 0;   ///< for kPacks: packs that are in flight at the same time have tracks
                           ///< with different slots
  std::int32_t lane = -1;  ///< for kLane: lane of the collective's schedule
};

/// The kind of a span. A number below 32 is a StepKind. For a span of computation, the number is 32
/// plus the ComputeKind.
struct SpanKind {
  static constexpr std::int32_t kFirstCompute = 32;
  static constexpr std::int32_t kPackInFlight = 48;
  static constexpr std::int32_t kExchange =
      50;  ///< an exchange (a collective of the computation, as in tensor parallelism) in flight;
           ///< Span::index is the index of the exchange in the plan
  static constexpr std::int32_t kChannel =
      49;  ///< all work of one NCCL channel for a pack; each channel has its own lane
};
std::string span_name(std::int32_t kind);

struct Span {
  Time start;
  Time duration;
  Time wait;  ///< waiting time at the beginning of the span
  std::int32_t kind = 0;
  std::int32_t step = 0;  ///< index of the training step
  std::int32_t pack = -1;
  std::int64_t index = 0;  ///< index of the schedule step in its lane, or of the backward segment
  Bytes bytes;
  TrackId peer = kNoTrack;       ///< for a receive: track of the sender's lane
  std::int64_t peer_index = -1;  ///< for a receive: index of the sender's step in its lane
};

/// A training step of all replicas. Times of parts, such as `forward`, are those of one replica:
/// the replica that computed longest.
struct StepRecord {
  std::int32_t step = 0;
  Time start;  ///< time at which the last replica ended the previous step
  Time end;
  std::string slowest;  ///< device of the replica that computed longest
  Time forward;
  Time backward;
  Time other_compute;  ///< time of copies and updates
  Time communication;  ///< time during which at least one pack was in flight on this replica
  Time exposed;        ///< part of `communication` in which this replica did not compute
  /// The device whose gradients were ready last. Empty if the run has only one device, or the
  /// device is not known.
  std::string awaited = {};
  /// The time at which the gradients of the device `awaited` were ready, minus the mean time at
  /// which those of the other devices were ready. A delay that comes from a late start of the step
  /// is excluded.
  Time awaited_for = {};
  /// The time by which computation took longer because communication ran on the same device. The
  /// added time is included in `forward`, `backward` and `other_compute`.
  Time slowed = {};
  /// For real runs: the time during which the thread that moves a worker's bytes was ready to run
  /// but had no CPU core (maximum over all workers). Not all of this time delayed the run, because
  /// at times the thread had no bytes to move. 0 if not known.
  Time core_wait = {};
};

/// The times of a pack in a training step, over all ranks.
struct PackRecord {
  std::int32_t step = 0;
  std::int32_t pack = 0;
  Time ready;        ///< time at which the pack's gradients were ready on the last replica
  Time first_start;  ///< time at which the first replica launched the pack
  Time last_start;   ///< time at which the last replica launched the pack
  Time end;          ///< time at which the last rank completed the pack
};

struct LinkRecord {
  std::string name;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Bytes bytes;
  Time busy;  ///< time that the link needs for the bytes at `bandwidth`; for collectives whose time
              ///< NCCL's cost model predicts, the predicted time
  Time bin_width;
  std::vector<std::int64_t> bins;  ///< bytes transferred in each interval of length `bin_width`;
                                   ///< may be empty
};

/// A piece of the critical path of the last step. The path is a chain of causes from the start of
/// the step to its end, without gaps.
struct PathPiece {
  std::int32_t kind = 0;  ///< the SpanKind of a computation, kPackInFlight or kExchange
  std::string device;
  std::int32_t pack = -1;
  std::string layer;  ///< for kBackward: layer whose gradients are ready at the end of the piece;
                      ///< for kExchange: name of the communicator
  Time start;
  Time end;
  Breakdown parts;           ///< for collectives, the parts of the time by cause
  std::string slowest_link;  ///< link of the longest single transfer
  std::string queued_at;     ///< link for which a message waited longest
  Time queued_time;
};

/// The steady state of asynchronous workers (core/timeline/steady_state.h). W workers together
/// complete W steps in a time of `step_time`.
struct SteadyState {
  Time step_time;
  Time low, high;  ///< 95 % confidence interval; if `steady` is false, the interval also includes
                   ///< the means of all batches
  std::int32_t first_step = 0;  ///< first training step in the steady state
  std::int32_t end_step = 0;    ///< index after the last training step in the steady state
  bool steady = false;          ///< false if the search reached its maximum number of rounds
                                ///< without finding a steady state
};

/// Receives the records of a run. The order of calls is: begin(); track() before the spans of the
/// track; span() in order of time for each track; step() and pack() when a step or pack ends;
/// steady(); link() and path(); end().
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  virtual void begin(const RunInfo& run) = 0;
  virtual void track(const Track& track) = 0;
  virtual void span(TrackId track, const Span& span) = 0;
  virtual void step(const StepRecord& step) = 0;
  virtual void pack(const PackRecord& pack) = 0;
  virtual void link(const LinkRecord& link) = 0;
  virtual void path(const PathPiece& piece) = 0;
  /// Passes the steady state to the sink. Called at most once, and only for asynchronous workers.
  virtual void steady(const SteadyState& state) = 0;
  /// Adds a note about the run for the user.
  virtual void note(const std::string& text) = 0;
  virtual void end() = 0;
};

/// A sink that ignores all calls. NullSink is the base class of sinks that need only some of the
/// calls.
class NullSink : public TimelineSink {
 public:
  void begin(const RunInfo&) override {}
  void track(const Track&) override {}
  void span(TrackId, const Span&) override {}
  void step(const StepRecord&) override {}
  void pack(const PackRecord&) override {}
  void link(const LinkRecord&) override {}
  void path(const PathPiece&) override {}
  void steady(const SteadyState&) override {}
  void note(const std::string&) override {}
  void end() override {}
};

/// A sink that forwards all calls to two sinks.
class TimelineTee : public TimelineSink {
 public:
  TimelineTee(TimelineSink& first, TimelineSink& second) : first_(first), second_(second) {}
  void begin(const RunInfo& run) override { first_.begin(run), second_.begin(run); }
  void track(const Track& track) override { first_.track(track), second_.track(track); }
  void span(TrackId track, const Span& span) override {
    first_.span(track, span), second_.span(track, span);
  }
  void step(const StepRecord& step) override { first_.step(step), second_.step(step); }
  void pack(const PackRecord& pack) override { first_.pack(pack), second_.pack(pack); }
  void link(const LinkRecord& link) override { first_.link(link), second_.link(link); }
  void path(const PathPiece& piece) override { first_.path(piece), second_.path(piece); }
  void steady(const SteadyState& state) override { first_.steady(state), second_.steady(state); }
  void note(const std::string& text) override { first_.note(text), second_.note(text); }
  void end() override { first_.end(), second_.end(); }

 private:
  TimelineSink& first_;
  TimelineSink& second_;
};

}  // namespace tutti::core
