#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/scenario/scenario.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// The scenario that a timeline is of, made anew from the text in its file: cluster, plan, and with it the schedule of every
/// pack. ERRORS: the text, or a file that it names, cannot be read here; those files have changed since, so that the plan is
/// another one.
core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace, const core::Library& library);

/// A lane's step of a collective.
struct StepOfLane {
  core::Rank rank = -1;
  core::Lane lane = 0;
  std::int64_t index = 0;
};

/// Which step sent what a step receives, as the schedule has it. Steps that take whatever arrives are not known.
/// Cost: every step once to make it.
class Senders {
 public:
  explicit Senders(const core::Schedule& schedule);
  /// rank -1: not known, or it receives nothing.
  [[nodiscard]] StepOfLane of(core::Rank rank, core::Lane lane, std::int64_t index) const;

 private:
  std::vector<std::size_t> first_lane_;
  std::vector<std::vector<StepOfLane>> by_lane_;  ///< of each lane's steps
};

}  // namespace tutti::gui
