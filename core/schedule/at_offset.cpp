#include "core/schedule/at_offset.h"

#include <utility>

namespace tutti::core {
namespace {

class AtOffset : public Schedule {
 public:
  AtOffset(std::shared_ptr<const Schedule> schedule, std::int64_t offset)
      : schedule_(std::move(schedule)), offset_(offset) {}

  [[nodiscard]] std::int32_t ranks() const override { return schedule_->ranks(); }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override { return schedule_->lanes(rank); }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return schedule_->steps(rank, lane);
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return moved(schedule_->step(rank, lane, index));
  }
  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    schedule_->visit_ways(rank, lane, [&](const Step& way) { visit(moved(way)); });
  }
  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return schedule_->same_everywhere(by, per_worker);
  }
  [[nodiscard]] IdenticalSteps identical_from(Rank rank, Lane lane,
                                              std::int64_t index) const override {
    return schedule_->identical_from(rank, lane, index);
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override { return schedule_->scratch(rank); }
  [[nodiscard]] int credits(Rank rank, Lane lane) const override {
    return schedule_->credits(rank, lane);
  }
  [[nodiscard]] Engine engine(Rank rank, Lane lane) const override {
    return schedule_->engine(rank, lane);
  }
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const override {
    return schedule_->arrival_slot(rank, lane, sender);
  }

 private:
  [[nodiscard]] Step moved(Step step) const {
    for (Range* const range : {&step.source, &step.target}) {
      if (range->buffer == Buffer::kData) range->offset += offset_;
    }
    return step;
  }

  std::shared_ptr<const Schedule> schedule_;
  std::int64_t offset_;
};

}  // namespace

std::unique_ptr<Schedule> at_offset(std::shared_ptr<const Schedule> schedule, std::int64_t offset) {
  return std::make_unique<AtOffset>(std::move(schedule), offset);
}

}  // namespace tutti::core
