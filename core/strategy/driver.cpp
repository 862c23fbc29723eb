#include "core/strategy/driver.h"

#include "core/base/check.h"
#include "core/base/random.h"

namespace tutti::core {

void DriverActions::exchange(int exchange, std::int64_t) {
  TUTTI_CHECK(false, "exchange {} was asked of somebody who does none", exchange);
}

std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica, std::int32_t step) {
  if (jitter_ppm == 0) return 1'000'000;
  Random random(seed ^
                (static_cast<std::uint64_t>(replica) << 32 | static_cast<std::uint32_t>(step)) * 0x9e3779b97f4a7c15u);
  return 1'000'000 - jitter_ppm +
         static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * jitter_ppm + 1)));
}

/// Passes what the runner asks for to the actions, in the words of packs and exchanges.
class Driver::Relay : public Host {
 public:
  Relay(Driver& driver, DriverActions& actions) : driver_(driver), actions_(actions) {}

  void compute(TaskId id, const Task& task, Time duration, std::int64_t compute_bound_ppm) override {
    actions_.compute({task.compute, duration, task.index, task.pack, compute_bound_ppm, id});
  }
  void communicate(TaskId id, const Task& task, std::int64_t number) override {
    if (task.pack >= 0) return actions_.launch(task.pack);
    driver_.exchanges_[static_cast<std::size_t>(task.index)] = id;
    actions_.exchange(task.index, number);
  }
  void mark(const Task& task) override { actions_.pack_ready(task.pack); }
  void step_done() override { actions_.step_done(); }

 private:
  Driver& driver_;
  DriverActions& actions_;
};

Driver::Driver(const StepPrograms& programs, std::size_t group, const DeviceRates& device)
    : program_(&programs.program(group)),
      runner_(program_->program, programs.durations(group), {device.copy, device.memory}),
      exchanges_(static_cast<std::size_t>(program_->exchanges), kNoTask) {}

void Driver::begin_step(std::int64_t pace_ppm, DriverActions& actions) {
  Relay relay(*this, actions);
  runner_.begin_step(pace_ppm, relay);
}

void Driver::compute_done(const ComputeTask& task, DriverActions& actions) {
  Relay relay(*this, actions);
  runner_.done(task.id, relay);
}

void Driver::pack_done(int pack, DriverActions& actions) {
  Relay relay(*this, actions);
  runner_.done(program_->task_of_pack[static_cast<std::size_t>(pack)], relay);
}

void Driver::exchange_done(int exchange, DriverActions& actions) {
  Relay relay(*this, actions);
  runner_.done(exchanges_[static_cast<std::size_t>(exchange)], relay);
}

}  // namespace tutti::core
