#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/strategy/driver.h"
#include "core/timeline/timeline.h"
#include "real/emulate/scale.h"
#include "real/interpreter/interpreter.h"
#include "real/timers.h"
#include "real/transport/transport.h"
#include "real/verify.h"

namespace tutti::real {

struct WorkerOptions {
  bool verify = true;
  bool record_packs = false;
  bool record_steps = false;
  std::int64_t most_spans = 2'000'000;
  /// A step in which nothing moves for so long has failed.
  std::chrono::duration<double> timeout{60};
  /// How much slower computation is replayed than the scenario says.
  TimeScale scale;
  /// Launches take the time that the scenario gives them.
  bool replay_launch = false;
};

/// What one replica did in a step.
struct ReplicaStep {
  std::string device;
  Transport::Clock::time_point start, end;
  Transport::Clock::duration forward{}, backward{}, other{}, communication{};
};

/// One pack of a step, over the replicas of a worker.
struct PackStep {
  int pack = 0;
  Transport::Clock::time_point ready, first_start, last_start, end;
};

/// Spans of one track; times are nanoseconds of the monotonic clock in place of picoseconds.
struct RecordedSpans {
  core::Track track;
  std::vector<core::Span> spans;
};

struct WorkerStep {
  std::vector<ReplicaStep> replicas;
  std::vector<PackStep> packs;
  std::vector<RecordedSpans> recorded;
  bool spans_left_out = false;
};

/// One worker's part of a run: its replicas with their drivers, and its host where it helps. Computation is replayed as
/// time that passes (the compute stream is busy, the core is not), so communication overlaps it as in training.
class WorkerRun : private InterpreterListener {
 public:
  /// REQUIRES: all it is given outlives the run.
  WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport, Devices& devices, Timers& timers,
            const WorkerOptions& options);
  ~WorkerRun() override;

  Receiver& receiver();

  /// Fills the buffers with the inputs of a step and gets ready for its messages.
  void prepare(std::int32_t step);
  /// Runs a prepared step, which begins at `begin`, to its end on all replicas here. `idle` is called now and then; it answers false to give up.
  /// ERRORS: a peer is gone or does not keep to the protocol; nothing moved for the timeout; given up.
  core::Expected<WorkerStep> run(std::int32_t step, Transport::Clock::time_point begin,
                                 const std::function<bool()>& idle);
  /// After run(): hands over what others may still need, such as slots that are free again.
  core::Expected<void> flush();
  /// Listens to peers meanwhile, so that one that is gone is noticed.
  core::Expected<void> serve(Transport::Clock::time_point until);
  /// Compares every element. ERRORS: the first that is wrong, with rank, pack, element, both values.
  core::Expected<void> verify(std::int32_t step);

 private:
  struct Replica;

  void rank_done(CollectiveTag collective, core::Rank rank) override;
  void step_done(const StepDone& step) override;

  void begin_step(Replica& replica);
  [[nodiscard]] Reduced reduced(std::int32_t step, std::size_t pack) const;
  void fill(const Reduced& reduced, core::Rank rank, std::byte* buffer, std::int64_t elements);
  void compute(Replica& replica, const core::ComputeTask& task);
  struct Task;
  void compute_done(Replica& replica, const Task& done);
  core::Expected<void> move(Transport::Clock::time_point until);
  void launch(Replica& replica, int pack);
  std::vector<core::Span>* spans_of(core::TrackKind kind, core::Rank rank, std::int32_t slot, core::Lane lane);

  const core::Scenario& scenario_;
  std::int32_t worker_;
  Transport& transport_;
  Devices& devices_;
  Timers& timers_;
  WorkerOptions options_;
  core::DriverTables tables_;
  Interpreter interpreter_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<core::Rank> ranks_;  ///< of this worker in every pack: replicas, then the host if it helps
  std::vector<std::vector<Devices::Memory>> buffers_;  ///< [pack][replica]
  std::int32_t step_ = -1;
  int replicas_left_ = 0;
  int ranks_left_ = 0;
  std::vector<PackStep> packs_;
  std::map<std::tuple<int, core::Rank, std::int32_t, core::Lane>, RecordedSpans> recorded_;
  std::map<std::pair<std::uint32_t, core::Rank>, std::int32_t> slots_;  ///< by pack and rank: of those in flight
  std::map<core::Rank, std::vector<bool>> slots_in_use_;
  std::map<std::pair<std::uint32_t, core::Rank>, Transport::Clock::time_point> launched_;
  std::int64_t spans_ = 0;
  bool spans_left_out_ = false;
  core::Expected<void> devices_work_;  ///< or why they do not
  std::int64_t progress_ = 0;          ///< counts what happened, to see that something does
};

}  // namespace tutti::real
