#pragma once

#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "core/plan/compute_task.h"
#include "core/scenario/executor.h"
#include "sim/interpreter/interpreter.h"

namespace tutti::sim {

/// Writes the activity of the simulation to a timeline, as spans on tracks. RecordOptions
/// determines which activity is recorded.
class Recorder {
 public:
  Recorder(const core::Cluster& cluster, const core::RecordOptions& options,
           core::TimelineSink& sink)
      : cluster_(cluster), options_(options), sink_(sink) {}

  [[nodiscard]] bool watches_steps() const { return options_.level >= core::RecordLevel::kSteps; }

  /// Records a compute task. `stream` is the index of the task's stream among the replica's compute
  /// streams.
  void compute(core::PartId device, std::int32_t stream, const core::ComputeTask& task,
               std::int32_t step, core::Time start, core::Time end);
  /// Records that `device` starts its part of a collective. Assigns the lowest free slot of the
  /// device to the collective. The slot determines the track of the collective's spans.
  void launched(core::PartId device, std::uint32_t instance);
  /// Records that `device` has completed its part of a pack. The pack's slot on the device becomes
  /// free for other collectives.
  void pack_done(core::PartId device, std::uint32_t instance, std::int32_t step, std::int32_t pack,
                 core::Time start, core::Time end);
  /// Does the same as pack_done() for an exchange, a collective during computation.
  void exchange_done(core::PartId device, std::uint32_t instance, std::int32_t step,
                     std::int32_t exchange, core::Time start, core::Time end);
  /// Deletes the slots that a collective has on all devices. Called when every rank has completed
  /// the collective.
  void closed(std::uint32_t instance) { slots_.erase(instance); }
  /// Records a schedule step. `group` maps the ranks of the collective to devices, and `element` is
  /// the size of an element in bytes.
  void step(const StepDone& done, std::int32_t step, std::int32_t pack, core::Bytes element,
            const core::Group& group);

 private:
  [[nodiscard]] bool is_recorded(core::PartId device) const {
    return device.worker >= options_.first_worker && device.worker <= options_.last_worker;
  }
  [[nodiscard]] bool covers(core::PartId device, core::Time start, core::Time end) const;
  void add(core::TrackId track, const core::Span& span);
  void in_flight(core::PartId device, std::uint32_t instance, core::Span span, core::Time end);
  core::TrackId track(core::TrackKind kind, core::PartId device, std::int32_t slot,
                      std::int32_t lane);
  [[nodiscard]] std::int32_t slot_of(core::PartId device, std::uint32_t instance) const;

  const core::Cluster& cluster_;
  const core::RecordOptions& options_;
  core::TimelineSink& sink_;
  using TrackKey = std::tuple<core::TrackKind, core::PartId, std::int32_t, std::int32_t>;
  std::map<TrackKey, core::TrackId> tracks_;
  /// The slots of a device. Slots 0 … used - 1 have been assigned at least once. `free` contains
  /// the assigned slots that are free again, with the lowest number on top.
  struct Slots {
    std::int32_t used = 0;
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free;
  };
  std::map<core::PartId, Slots> slots_in_use_;
  /// For each collective (handle), the slot that it has on each device.
  std::map<std::uint32_t, std::map<core::PartId, std::int32_t>> slots_;
  std::int64_t spans_ = 0;
};

}  // namespace tutti::sim
