#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/timeline/breakdown.h"

namespace tutti::core {

/// The record of a run. Times are picoseconds since the start of the run. docs/timelines.md
/// describes the file.

/// The detail of the record per device and link. Each level includes the ones before it.
enum class RecordLevel {
  kNone,   ///< only steps, packs, link totals and the critical path
  kPacks,  ///< also, per device, computation and each pack in flight
  kSteps,  ///< also every step of every lane
};

/// The origin of a timeline, and the plan of the run.
struct RunInfo {
  std::string scenario;  ///< name of the scenario
  std::string scenario_file;
  std::string scenario_text;  ///< original text, so that the run can be repeated
  std::string version;        ///< version of Tutti
  std::string executor;       ///< for example "simulated"
  std::string network_model;
  std::uint64_t seed = 0;
  std::int64_t steps = 0;
  std::string cluster;  ///< for example "2 × dgx1-v100, 16 GPUs"
  std::string workload;
  std::string strategy;
  std::string timing;  ///< the source of computation times
  std::int64_t replicas = 0;
  Bytes gradient_bytes;
  Time communication_bound;  ///< lower bound of the all-reduce, for any algorithm
  std::string bound_reason;
  Time step_bound;  ///< lower bound of the step time
  /// A real run without the workers' devices: their buffers were in the memory of the worker, and
  /// what appears as a link between them is a copy by the worker's only thread.
  bool devices_in_memory = false;
  std::vector<std::string> notes;
  /// A pack of the plan, to which the pack numbers below refer.
  struct PackInfo {
    std::vector<std::string> gradients;
    Bytes bytes;
    std::string type;
    /// NCCL's choice, if it was simulated: "Ring LL128, 24 channels × 640 threads".
    std::string nccl;
    /// The range, relative to the predicted time, that contains 8 of 10 measurements; 0: not known.
    double band_low = 0, band_high = 0;
    /// The link that raised the model's time for it, because it could not carry the bytes in less.
    /// Empty, as it should be: none.
    std::string capped_at = {};
  };
  std::vector<PackInfo> packs;
  std::vector<std::string> layers;  ///< names of the backward segments
};

enum class TrackKind { kCompute = 0, kPacks = 1, kLane = 2 };
using TrackId = std::int32_t;
inline constexpr TrackId kNoTrack = -1;

/// A row of spans that do not overlap.
struct Track {
  TrackId id = 0;
  TrackKind kind = TrackKind::kCompute;
  std::int32_t worker = 0;
  std::string device;      ///< for example "gpu0"
  std::int32_t slot = 0;   ///< slot of a pack; packs in flight at the same time have different
                           ///< slots
  std::int32_t lane = -1;  ///< kLane: the lane in the collective's schedule
};

/// The kind of a span. Numbers below 32 are StepKinds, from 32 on ComputeKinds.
struct SpanKind {
  static constexpr std::int32_t kFirstCompute = 32;
  static constexpr std::int32_t kPackInFlight = 48;
  static constexpr std::int32_t kExchange =
      50;  ///< an exchange in flight; the span's index is the exchange's index in the scenario
  static constexpr std::int32_t kChannel =
      49;  ///< all work of an NCCL channel for a pack, on a separate lane
};
std::string span_name(std::int32_t kind);

struct Span {
  Time start;
  Time duration;
  Time wait;  ///< at the beginning of the span: time until the awaited event began
  std::int32_t kind = 0;
  std::int32_t step = 0;  ///< index of the training step
  std::int32_t pack = -1;
  std::int64_t index = 0;  ///< index of the lane's step, or of the backward segment
  Bytes bytes;
  TrackId peer = kNoTrack;       ///< receives: the sender's lane
  std::int64_t peer_index = -1;  ///< receives: the sender's step
};

/// One training step over all replicas; its parts are those of the replica that ended it last.
struct StepRecord {
  std::int32_t step = 0;
  Time start;  ///< time at which the previous step had ended on all replicas
  Time end;
  std::string slowest;  ///< the device of the replica that ended the step last
  Time forward;
  Time backward;
  Time other_compute;  ///< time of copies and updates
  Time communication;  ///< time with at least one pack in flight on that replica
  Time exposed;        ///< part of `communication` without computation on that replica
  /// The device whose gradients were ready last; empty if there is only one, or it is not known.
  std::string awaited = {};
  /// Its delay compared with the others' average, as far as its longer computation caused it.
  Time awaited_for = {};
  /// The extra time of computation because communication used the device too; included in the three
  /// parts above.
  Time slowed = {};
  /// Real runs only: the time that the thread which moves a worker's bytes was ready but without a
  /// core; the maximum over all workers. Not all of it is lost, since the thread had nothing to do
  /// for some of it. 0: not known.
  Time core_wait = {};
};

/// One pack of one step over all ranks.
struct PackRecord {
  std::int32_t step = 0;
  std::int32_t pack = 0;
  Time ready;        ///< time at which its gradients were ready on the last replica
  Time first_start;  ///< time at which the first replica launched it
  Time last_start;   ///< time at which the last replica launched it
  Time end;          ///< time at which the last rank completed it
};

struct LinkRecord {
  std::string name;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Bytes bytes;
  Time busy;  ///< transfer time of the bytes at that bandwidth; for NCCL, the time of NCCL's model
  Time bin_width;
  std::vector<std::int64_t> bins;  ///< bytes per bin; may be empty
};

/// A piece of the critical path of the last step: the chain of waits from its beginning to its end,
/// without gaps.
struct PathPiece {
  std::int32_t kind = 0;  ///< kind of a compute span, kPackInFlight or kExchange
  std::string device;
  std::int32_t pack = -1;
  std::string
      layer;  ///< kBackward: the layer whose gradients end the piece; exchange: its communicator
  Time start;
  Time end;
  Breakdown parts;           ///< parts of a pack in flight
  std::string slowest_link;  ///< link of the longest single transfer of the chain
  std::string queued_at;     ///< resource of the longest single wait
  Time queued_time;
};

/// The step time of workers that do not wait for each other (core/timeline/steady_state.h): in that
/// time they make as many steps together as there are workers.
struct SteadyState {
  Time step_time;
  Time low, high;  ///< 95 % confidence interval; if not steady, it also contains the means of all
                   ///< batches
  std::int32_t first_step = 0;  ///< earlier steps are discarded
  std::int32_t end_step = 0;    ///< this step and later ones are discarded
  bool steady = false;          ///< false: the search ended at its limit
};

/// Takes a timeline as it comes into being. Calls come in this order: begin; tracks before their
/// spans; spans in order of time per track; steps and packs as they end; the steady state; links
/// and the path; end.
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
  /// Only of workers that do not wait for each other; at most once.
  virtual void steady(const SteadyState& state) = 0;
  /// Something the reader should know that came up during the run.
  virtual void note(const std::string& text) = 0;
  virtual void end() = 0;
};

/// Ignores everything: the base of sinks that need only some of the calls.
class DeafSink : public TimelineSink {
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

/// Forwards everything to two sinks.
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
