#include "real/tcp_executor.h"

#include <utility>

#include <fmt/format.h>

#include "real/coordinator.h"
#include "real/machine.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

/// Of a whole crew as processes of one machine.
constexpr std::int64_t kMostHere = 64;

Expected<void> problems_of(const core::Scenario& scenario, const Gathering& gathering) {
  const std::int64_t workers = scenario.cluster->workers();
  const auto wrong = [&](const std::string& text) {
    return tl::make_unexpected(Error::request(text, {scenario.file, 0, 0}));
  };
  if (gathering.spawn == Gathering::Spawn::kAll && workers > kMostHere) {
    return wrong(fmt::format(
        "{} workers would be as many processes on this machine; up to {} can be run here, more where workers join from "
        "others",
        workers, kMostHere));
  }
  if (gathering.ranks > 0 && gathering.ranks != workers) {
    return wrong(fmt::format("the scenario has {} workers, and {} processes were started; start one for each worker",
                             workers, gathering.ranks));
  }
  const auto files = static_cast<std::int64_t>(allow_many_files());
  if (workers + 100 > files) {
    return wrong(fmt::format(
        "{} workers are more connections than the {} files that a process may open here (ulimit -n)", workers, files));
  }
  return {};
}

}  // namespace

Expected<Listener> TcpExecutor::open() {
  auto listener = Listener::open(options_.gathering.listen);
  if (!listener || !options_.gathering.announce) return listener;
  if (auto announced = options_.gathering.announce(listener->address()); !announced)
    return tl::make_unexpected(announced.error());
  return listener;
}

Expected<void> TcpExecutor::run(const core::Scenario& scenario, const core::RecordOptions& record,
                                const core::RunControl& control, core::TimelineSink& sink) {
  Gathering& gathering = options_.gathering;
  if (gathering.secret.empty() && gathering.spawn == Gathering::Spawn::kAll) gathering.secret = random_secret();
  auto good = problems_of(scenario, gathering);
  // Where workers join from elsewhere, each looks for itself what there is.
  if (good) good = check_backend(options_.backend, scenario, gathering.spawn == Gathering::Spawn::kAll);
  if (!good) {
    turn_away(good.error());
    return good;
  }
  auto listener = open();
  if (!listener) return tl::make_unexpected(listener.error());
  told_others_ = true;
  return coordinate(options_, scenario, record, control, sink, *listener);
}

void TcpExecutor::turn_away(const Error& why) {
  if (std::exchange(told_others_, true) || options_.gathering.ranks < 2) return;
  if (const auto listener = open()) real::turn_away(options_.gathering, *listener, why);
}

}  // namespace tutti::real
