#include "tests/support/fair_flows.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/network/fair_share.h"

namespace tutti::test {

using core::Bandwidth;
using core::Bytes;
using core::Time;

FairFlows heterogeneous_push(int workers, int servers) {
  FairFlows all;
  for (int i = 0; i < workers; ++i)
    all.links.emplace_back(i % 4 == 0 ? 500'000'000 : 25'000'000'000);
  for (int j = 0; j < servers; ++j) all.links.emplace_back(25'000'000'000 * (1 + j % 4) / 4);
  for (int i = 0; i < workers; ++i) {
    for (int j = 0; j < servers; ++j) {
      all.flows.push_back({{i, workers + j},
                           Bandwidth(),
                           Bytes((1 + (8 * i + j) % 7) * std::int64_t{4'194'304}),
                           core::microseconds(100 * i)});
    }
  }
  return all;
}

std::vector<Time> ends_by_fair_share(const FairFlows& all) {
  sim::FairShare share(*std::max_element(all.links.begin(), all.links.end()));
  for (const Bandwidth capacity : all.links) share.add_link(capacity);
  std::map<std::pair<std::vector<int>, Bandwidth>, sim::FairShare::Route> routes;
  std::vector<sim::FairShare::Route> route_of;
  for (const FairFlow& flow : all.flows) {
    const auto [known, fresh] = routes.try_emplace({flow.links, flow.cap}, 0);
    if (fresh) known->second = share.add_route(flow.links, flow.cap);
    route_of.push_back(known->second);
  }
  std::vector<std::size_t> by_start(all.flows.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) {
    return all.flows[a].start < all.flows[b].start;
  });
  std::vector<Time> ends(all.flows.size(), core::kNever);
  std::vector<sim::FairShare::Done> done;
  std::size_t started = 0;
  while (true) {
    const Time arrival =
        started < by_start.size() ? all.flows[by_start[started]].start : core::kNever;
    const Time now = std::min(arrival, share.next());
    if (now == core::kNever) return ends;
    for (; started < by_start.size() && all.flows[by_start[started]].start == now; ++started)
      share.start(route_of[by_start[started]], all.flows[by_start[started]].bytes,
                  by_start[started]);
    done.clear();
    share.update(now, done);
    for (const sim::FairShare::Done& flow : done) ends[flow.id] = now;
  }
}

}  // namespace tutti::test
