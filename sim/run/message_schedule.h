#pragma once

#include "core/schedule/schedule.h"

namespace tutti::sim {

/// The schedule of a message of an execution trace. Rank 0 sends the message and rank 1 receives
/// it. The sender never waits for the receiver.
class MessageSchedule : public core::Schedule {
 public:
  MessageSchedule(std::int64_t elements, core::Engine engine)
      : elements_(elements), engine_(engine) {}

  [[nodiscard]] std::int32_t ranks() const override { return 2; }
  [[nodiscard]] std::int32_t lanes(core::Rank) const override { return 1; }
  [[nodiscard]] std::int64_t steps(core::Rank, core::Lane) const override { return 1; }
  [[nodiscard]] core::Step step(core::Rank rank, core::Lane, std::int64_t) const override {
    core::Step step;
    step.kind = rank == 0 ? core::StepKind::kSend : core::StepKind::kReceive;
    (rank == 0 ? step.to : step.from) = core::Peer::at(1 - rank, 0);
    (rank == 0 ? step.source : step.target) = {core::Buffer::kData, 0, elements_};
    return step;
  }
  [[nodiscard]] core::Engine engine(core::Rank, core::Lane) const override { return engine_; }

 private:
  std::int64_t elements_;
  core::Engine engine_;
};

}  // namespace tutti::sim
