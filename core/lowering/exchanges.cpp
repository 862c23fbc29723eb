#include "core/lowering/exchanges.h"

#include <utility>

namespace tutti::core {

void add_exchanges(const std::vector<Communicator>& communicators, const Cluster& cluster,
                   Plan& plan) {
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    const Communicator& communicator = communicators[c];
    for (const Exchange& exchange : communicator.exchanges) {
      Strategy strategy = communicator.strategy;
      strategy.collective = exchange.collective;
      strategy.out_of_place = !can_be_in_place(exchange.collective);
      Collective first =
          make_collective(cluster, strategy, exchange.type, exchange.elements,
                          static_cast<int>(plan.exchanges.size()), communicator.partition);
      const CollectiveId id = plan.add(
          {std::move(first), communicator.partition, strategy.launch_overhead, exchange.sizes});
      plan.exchanges.push_back({static_cast<int>(c), exchange, id});
    }
  }
}

}  // namespace tutti::core
