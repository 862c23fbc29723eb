#include "sim/run/exchange_times.h"

#include <fmt/format.h>

#include "core/base/format.h"

namespace tutti::sim {

std::vector<std::string> ExchangeTimes::notes(const core::Scenario& scenario, std::int64_t steps,
                                              std::int64_t replicas) const {
  std::vector<std::string> notes;
  for (std::size_t e = 0; e < totals_.size(); ++e) {
    const core::PlannedExchange& planned = scenario.plan.exchanges[e];
    const auto parts = static_cast<core::Wide>(steps) * static_cast<core::Wide>(replicas);
    const core::Time mean(static_cast<std::int64_t>(totals_[e] / parts));
    notes.push_back(fmt::format(
        "{}: in a training step, the {} {} operations of a replica take {} in total, on average",
        scenario.communicators[planned.communicator].name,
        scenario.workload.micro_batches *
            (std::int64_t{planned.exchange.per_forward} + planned.exchange.per_backward),
        to_string(planned.exchange.collective), core::show(mean)));
  }
  return notes;
}

}  // namespace tutti::sim
