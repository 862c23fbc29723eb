#include "real/coordinator/async_account.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "real/proto/run.pb.h"

namespace tutti::real {

core::Expected<void> AsyncAccount::take(const WorkerSet::Messages& ready,
                                        const std::function<std::string(std::size_t)>& name) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::uint64_t> sent;
  for (std::size_t w = 0; w < ready.size(); ++w) {
    const proto::Ready& part = ready[w]->ready();
    // Larger reported counts are rejected, so that sums over all workers and steps cannot overflow.
    constexpr std::int64_t kMax = std::int64_t{1} << 32;
    for (const std::int64_t count : {part.updates(), part.behind(), part.most_behind()}) {
      if (count < 0 || count > kMax)
        return tl::make_unexpected(core::Error::run(
            {core::ProblemCode::kProtocol, "", static_cast<std::int32_t>(w)},
            fmt::format("{} reported an invalid number or staleness of updates", name(w))));
    }
    behind_.add({part.updates(), part.behind(), part.most_behind()});
    for (const proto::ReadSeen& read : part.read()) {
      if (read.sent()) sent[{read.step(), read.pack(), read.worker()}] = read.hash();
    }
  }
  for (std::size_t w = 0; w < ready.size(); ++w) {
    for (const proto::ReadSeen& read : ready[w]->ready().read()) {
      if (read.sent()) continue;
      const auto there = sent.find({read.step(), read.pack(), read.worker()});
      if (there != sent.end() && there->second == read.hash()) continue;
      return tl::make_unexpected(
          core::Error::run({core::ProblemCode::kWrongResult, "", static_cast<std::int32_t>(w)},
                           fmt::format("step {}: the bytes that {} received in pack {} differ from "
                                       "the bytes that the server sent",
                                       read.step(), name(w), read.pack())));
    }
  }
  return {};
}

void AsyncAccount::step_ended(std::int64_t worker, std::int32_t step, std::int64_t start_ns,
                              std::int64_t end_ns) {
  began_ns_ = std::min(began_ns_, start_ns);
  ends_.emplace(end_ns, worker, step);
}

void AsyncAccount::batch_ended() {
  for (const auto& [end_ns, worker, step] : ends_)
    paces_.step_ended(worker, step, steps_, core::Time((end_ns - began_ns_) * 1000));
  ends_.clear();
}

}  // namespace tutti::real
