#include "core/schedule/written.h"

namespace tutti::core {

WrittenSchedule WrittenSchedule::of(const Schedule& schedule) {
  std::vector<RankLanes> ranks(schedule.ranks());
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    RankLanes& written = ranks[rank];
    written.scratch = schedule.scratch(rank);
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      LaneSteps steps;
      steps.credits = schedule.credits(rank, lane);
      steps.engine = schedule.engine(rank, lane);
      for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
        steps.steps.push_back(schedule.step(rank, lane, i));
        if (steps.steps.back().kind != StepKind::kReceiveAny || !steps.arrival_slots.empty())
          continue;
        for (Rank sender = 0; sender < schedule.ranks(); ++sender) {
          steps.arrival_slots.push_back(schedule.arrival_slot(rank, lane, sender));
        }
      }
      written.lanes.push_back(std::move(steps));
    }
  }
  return WrittenSchedule(std::move(ranks));
}

}  // namespace tutti::core
