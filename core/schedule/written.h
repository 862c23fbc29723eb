#pragma once

#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// A schedule that stores all its steps in lists. WrittenSchedule is used for small groups, for
/// imported schedules, and for tests that change single steps.
class WrittenSchedule : public Schedule {
 public:
  struct LaneSteps {
    std::vector<Step> steps;
    int credits = kUnlimitedCredits;
    Engine engine = Engine::kKernel;
    /// For each sender's rank, its arrival slot (Schedule::arrival_slot()). If the list is empty,
    /// each sender's arrival slot is its rank.
    std::vector<std::int32_t> arrival_slots;
  };
  struct RankLanes {
    std::vector<LaneSteps> lanes;
    std::int64_t scratch = 0;
  };

  explicit WrittenSchedule(std::vector<RankLanes> ranks_of_lanes)
      : ranks_(std::move(ranks_of_lanes)) {}
  /// Copies all steps of `schedule` into lists. Cost: one call of step() per step.
  static WrittenSchedule of(const Schedule& schedule);

  [[nodiscard]] std::vector<RankLanes>& written() { return ranks_; }

  [[nodiscard]] std::int32_t ranks() const override {
    return static_cast<std::int32_t>(ranks_.size());
  }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return static_cast<std::int32_t>(at(rank).lanes.size());
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return static_cast<std::int64_t>(at(rank, lane).steps.size());
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return at(rank, lane).steps[index];
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override { return at(rank).scratch; }
  [[nodiscard]] int credits(Rank rank, Lane lane) const override { return at(rank, lane).credits; }
  [[nodiscard]] Engine engine(Rank rank, Lane lane) const override { return at(rank, lane).engine; }
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const override {
    const std::vector<std::int32_t>& slots = at(rank, lane).arrival_slots;
    return slots.empty() ? sender : slots[sender];
  }

 private:
  [[nodiscard]] const RankLanes& at(Rank rank) const { return ranks_[rank]; }
  [[nodiscard]] const LaneSteps& at(Rank rank, Lane lane) const { return at(rank).lanes[lane]; }

  std::vector<RankLanes> ranks_;
};

}  // namespace tutti::core
