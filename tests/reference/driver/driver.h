#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/plan/compute_kind.h"
#include "core/strategy/exchange_points.h"
#include "core/strategy/plan.h"

// The state machine that ran a training step before there were task graphs, as it was. The lowered programs are held against it
// (tests/core/strategy/step_program_test.cpp).

namespace tutti::reference {

using namespace core;

/// Work for the device's compute stream, which does one thing after the other.
struct ComputeTask {
  ComputeKind kind = ComputeKind::kForward;
  Time duration;
  int segment = -1;  ///< kBackward, and kConvert of gradients
  int pack = -1;     ///< of what belongs to one; copies, conversions and updates without it: to all together
  std::int64_t compute_bound_ppm = 0;  ///< what of it is limited by multiprocessors; the rest waits for memory
};

/// The world as a driver sees it: virtual in the simulator, clocks and processes in a real run.
class DriverActions {
 public:
  virtual ~DriverActions() = default;
  /// Puts a task behind what the replica's compute stream already has; Driver::compute_done follows.
  virtual void compute(const ComputeTask& task) = 0;
  /// The last gradient that `pack` needs is ready on the replica. (For the record; nothing has to follow.)
  virtual void pack_ready(int pack) = 0;
  /// The replica takes part in the collective of `pack` from now on; Driver::pack_done follows.
  virtual void launch(int pack) = 0;
  /// The replica takes part in an exchange of the plan, the `number`-th of its step (the same on all replicas);
  /// Driver::exchange_done follows. Not called for plans without exchanges.
  virtual void exchange(int exchange, std::int64_t number);
  /// The replica's step is over.
  virtual void step_done() = 0;
};

/// What all drivers of a run share: the plan, and its relations the other way about.
struct DriverTables {
  /// REQUIRES: both outlive the tables.
  DriverTables(const Workload& workload, const Plan& plan);

  const Workload& workload;
  const Plan& plan;
  std::vector<std::vector<int>> packs_of_variable;
  std::vector<std::vector<int>> successors;  ///< of each pack: those that wait for it
  std::vector<int> answer;                   ///< of each pack: the one that answers it; -1: none
  /// Packs that are cut from one concatenation of gradients (num_packs): all start when the last of these is ready, and are
  /// unpacked when the last of them is complete. One for each entry of a spec, or one in all.
  struct Concatenation {
    std::vector<int> packs;
    std::int64_t gradients = 0;
  };
  std::vector<Concatenation> concatenations;
  std::vector<int> concatenation_of_pack;      ///< -1: none
  std::vector<int> concatenation_of_variable;  ///< -1: none
  std::vector<Bytes> bytes_up_to;              ///< of gradients in packs 0 … p, in their own types
  std::vector<int> reads;                      ///< packs that are read when a step begins
  std::vector<int> checkpoint;                 ///< packs that are brought together to be saved
  std::vector<int> segment_of_read;            ///< of each pack: the segment whose layer waits for it; -1: none
  std::vector<int> reads_of_segment;           ///< how many
  std::vector<Bytes> converted;  ///< per segment: read and written to convert its gradients; empty if they are not
};

/// Decides what one replica does next: computes forward and backward, launches each pack as soon as its rule allows,
/// updates what has arrived. The same for a simulated and a real replica. A deterministic state machine: it knows no
/// time, only the order of what happens.
///
/// - Exchanges interrupt a pass where they are due; those of one communicator follow each other.
/// - Of several micro-batches each is a forward and a backward pass; gradients are ready in the last one's backward pass.
/// - Variables that lie on servers are read when a step begins; a layer's forward pass waits for its own.
/// - Backward segments go to the compute stream one by one; a pack's copy into its buffer goes in front of the next
///   segment, where the framework would have put it.
/// - Gradients that travel in another type are converted right behind their segment, packs right before they start.
/// - Where the plan says so, the backward pass waits for the packs that are ready.
/// - Where a pack answers another, gradients are there, and updated, when it is complete.
/// - Variables that are brought together to be saved are so one by one, once all else of the step is over.
/// - What follows a complete pack (copy out, conversion back, update) waits for the end of the backward pass: its kernels are queued
///   long before the pack is complete.
class Driver {
 public:
  /// `device`: the replica's. REQUIRES: tables and times outlive the driver.
  Driver(const DriverTables& tables, const StepTimes& times, const DeviceRates& device);

  /// Starts a step. `times_scale_ppm`: how much slower (or faster) this step computes, 1'000'000 = as stated.
  void begin_step(std::int64_t times_scale_ppm, DriverActions& actions);
  void compute_done(const ComputeTask& task, DriverActions& actions);
  void pack_done(int pack, DriverActions& actions);
  void exchange_done(int exchange, DriverActions& actions);

 private:
  /// An exchange that was asked for and is not over.
  struct Asked {
    int exchange = 0;
    std::int64_t number = 0;
  };
  struct PackState {
    int gradients_missing = 0;
    bool buffered = false;  ///< gradients are in the pack's buffer, in the type in which they travel
    bool launched = false;
    bool done = false;
  };

  [[nodiscard]] PackState& state(int pack) { return states_[static_cast<std::size_t>(pack)]; }
  [[nodiscard]] const Pack& pack(int i) const { return tables_.plan.packs[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int pack_count() const { return static_cast<int>(tables_.plan.packs.size()); }
  [[nodiscard]] Time scaled(Time t) const;
  [[nodiscard]] Time copy_time(Bytes bytes) const { return transfer_time(bytes, copy_rate_); }
  [[nodiscard]] Time convert_time(Bytes bytes) const { return transfer_time(bytes, memory_rate_); }
  [[nodiscard]] bool converts_packs() const { return tables_.plan.compression && tables_.plan.compression->of_packs; }

  [[nodiscard]] bool computes_layers() const { return !backward_ && forward_segment_ >= 0; }
  void forward_on(DriverActions& actions);
  void read_done(int pack, DriverActions& actions);

  [[nodiscard]] bool in_last_pass() const { return pass_ + 1 == tables_.workload.micro_batches; }
  void begin_half(bool backward, DriverActions& actions);
  [[nodiscard]] Time segment_time(int segment) const;
  [[nodiscard]] int segments() const { return static_cast<int>(tables_.workload.segments.size()); }
  void compute_on(DriverActions& actions);
  void piece_done(DriverActions& actions);
  void exchange_or_go_on(DriverActions& actions);
  void half_done(DriverActions& actions);
  void next_segment(DriverActions& actions);
  void segment_done(int segment, DriverActions& actions);
  void gradients_ready(int segment, DriverActions& actions);
  void copy_convert_launch(int pack, DriverActions& actions);
  void convert_or_launch(int pack, DriverActions& actions);
  void launch_if_allowed(int pack, DriverActions& actions);
  void finish(DriverActions& actions);
  void save_or_end(DriverActions& actions);
  void unpack_and_update(int pack, DriverActions& actions);
  void unpack_concatenation(const DriverTables::Concatenation& concatenation, DriverActions& actions);
  void unpack(Bytes copied, Bytes converted, int pack, DriverActions& actions);
  [[nodiscard]] Time update_share(int pack) const;

  const DriverTables& tables_;
  const StepTimes& times_;
  Bandwidth copy_rate_;
  Bandwidth memory_rate_;

  std::int32_t step_ = -1;
  std::size_t saved_ = 0;  ///< packs of the checkpoint that were launched in this step
  std::int64_t scale_ppm_ = 1'000'000;
  std::vector<PackState> states_;
  /// Of a concatenation, in this step.
  struct Concatenated {
    std::int64_t gradients_missing = 0;
    std::int64_t packs_missing = 0;
  };
  std::vector<Concatenated> concatenated_;
  std::int32_t pass_ = 0;  ///< the micro-batch at hand
  bool backward_ = false;  ///< … and which half of it
  int next_segment_ = 0;
  int forward_segment_ = -1;        ///< of a forward pass layer by layer: the next, or the one at hand; -1: it is none
  bool layer_waits_ = false;        ///< for what it reads
  std::vector<int> reads_missing_;  ///< by segment
  bool whole_pass_waits_ = false;   ///< nobody knows its layers: for everything that is read
  int reads_under_way_ = 0;
  Time left_;   ///< of the segment, or of the forward pass: not yet asked for
  Time piece_;  ///< asked for at the moment
  Time at_;     ///< computed in this half so far
  ExchangePoints points_;
  std::vector<std::deque<Asked>> asked_;  ///< by communicator, oldest first; those in front were begun
  std::int64_t exchanges_asked_ = 0;      ///< in this step
  std::int64_t exchanges_under_way_ = 0;
  std::int64_t awaited_number_ = -1;  ///< computation waits for this one to be over
  bool half_waits_ = false;           ///< all of it is computed, and exchanges are not over
  bool backward_done_ = false;
  int packs_missing_ = 0;
  int awaited_packs_ = 0;  ///< Plan::computation_waits: ready and not complete; the backward pass waits
  int tasks_missing_ = 0;  ///< copies out and updates under way
  std::vector<int> finished_early_;
};

}  // namespace tutti::reference
