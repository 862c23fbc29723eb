#include "tests/support/step_player.h"

#include "core/base/check.h"

namespace tutti::core {

void StepActions::exchange(int exchange, std::int64_t) {
  TUTTI_CHECK(false, "exchange {} was asked of somebody who does none", exchange);
}

/// Translates the requests of the runner to actions on packs and exchanges.
class StepPlayer::Relay : public Host {
 public:
  Relay(StepPlayer& player, StepActions& actions) : player_(player), actions_(actions) {}

  void compute(TaskId id, const Task& task, Time duration,
               std::int64_t compute_bound_ppm) override {
    actions_.compute({id, task, duration, compute_bound_ppm});
  }
  void communicate(TaskId id, const Task& task, std::int64_t number) override {
    if (task.pack >= 0) return actions_.launch(task.pack);
    player_.tasks_.begun(id, task);
    actions_.exchange(task.index, number);
  }
  void mark(const Task& task) override { actions_.pack_ready(task.pack); }
  void step_done() override { actions_.step_done(); }

 private:
  StepPlayer& player_;
  StepActions& actions_;
};

StepPlayer::StepPlayer(const StepPrograms& programs, std::size_t group, const DeviceRates& device)
    : runner_(programs.program(group).program, programs.durations(group),
              {device.copy, device.memory}),
      tasks_(programs.program(group)) {}

void StepPlayer::begin_step(std::int64_t pace_ppm, StepActions& actions) {
  Relay relay(*this, actions);
  runner_.begin_step(pace_ppm, relay);
}

void StepPlayer::compute_done(const ComputeTask& task, StepActions& actions) {
  Relay relay(*this, actions);
  runner_.done(task.id, relay);
}

void StepPlayer::pack_done(int pack, StepActions& actions) {
  Relay relay(*this, actions);
  runner_.done(tasks_.of_pack(pack), relay);
}

void StepPlayer::exchange_done(int exchange, StepActions& actions) {
  Relay relay(*this, actions);
  runner_.done(tasks_.of_exchange(exchange), relay);
}

}  // namespace tutti::core
