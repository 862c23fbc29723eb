#include "tools/tutti/time_scale.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/scenario/nccl_model.h"
#include "core/timeline/timeline.h"
#include "sim/simulator.h"

namespace tutti::tools {
namespace {

/// The number of emulated bytes that one core can move per second, including all copies, and the
/// CPU time of each message. The values are conservative and fit a small machine. On a faster
/// machine, the run only takes longer than necessary.
constexpr double kBytesPerSecond = 1e9;
constexpr double kSecondsPerMessage = 30e-6;
/// The time that a sleeping process needs to detect a message, if the process has to wait for a
/// core.
constexpr double kSecondsToNotice = 500e-6;
/// The fraction of the cores' time that may be used for messages on average. The rest is a reserve
/// for bursts, in which all workers reduce the data of a round at the same time.
constexpr double kShareOfTheCores = 0.1;

/// The durations of a training step and of its packs.
class Durations : public core::NullSink {
 public:
  void step(const core::StepRecord& step) override {
    seconds = core::to_us(step.end - step.start) / 1e6;
  }
  void pack(const core::PackRecord& pack) override {
    pack_seconds += core::to_us(pack.end - pack.last_start) / 1e6;
  }
  double seconds = 0;
  double pack_seconds = 0;
};

struct Messages {
  double count = 0;
  double bytes = 0;
  /// The sum, over all packs, of the number of messages of the pack's busiest lane.
  double one_after_another = 0;
};

Messages messages_of(const core::Plan& plan) {
  Messages messages;
  for (const core::Pack& pack : plan.packs) {
    const core::Schedule& schedule = *plan.collective(pack).schedule;
    std::int64_t longest = 0;
    for (core::Rank r = 0; r < schedule.ranks(); ++r) {
      for (core::Lane l = 0; l < schedule.lanes(r); ++l) {
        const std::int64_t steps = schedule.steps(r, l);
        longest = std::max(longest, steps);
        messages.count += static_cast<double>(steps);
        for (std::int64_t i = 0; i < steps; ++i) {
          const core::Step step = schedule.step(r, l, i);
          const bool sends_only = step.kind == core::StepKind::kSend;
          const std::int64_t elements = sends_only ? step.source.count : step.target.count;
          if (core::sends(step.kind))
            messages.bytes +=
                static_cast<double>(elements * core::size_of(plan.collective(pack).type).count());
        }
      }
    }
    messages.one_after_another += static_cast<double>(longest);
  }
  return messages;
}

double round_up(double factor) {
  if (factor <= 1) return 1;
  const double power = std::pow(10, std::floor(std::log10(factor)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (factor <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

}  // namespace

double time_scale_for(const core::Scenario& scenario) {
  core::Scenario one_step = scenario;
  one_step.run.steps = 1;
  one_step.run.until_steady = false;
  one_step.run.interference = core::Interference::kOff;  // interference is not emulated either
  core::simulate_as_rings(one_step);                     // parts are executed as rings
  Durations predicted;
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  sim::Simulator simulator;
  if (!simulator.run(one_step, record, {}, predicted) || predicted.pack_seconds <= 0) return 1;
  const Messages messages = messages_of(scenario.plan);
  const double cores = std::min<double>(std::max(1u, std::thread::hardware_concurrency()),
                                        static_cast<double>(scenario.cluster->workers()));
  const double work = messages.bytes / kBytesPerSecond + messages.count * kSecondsPerMessage;
  const double carried = work / cores / kShareOfTheCores / predicted.seconds;
  const double noticed = kSecondsToNotice * messages.one_after_another / predicted.pack_seconds;
  return round_up(std::max(carried, noticed));
}

}  // namespace tutti::tools
