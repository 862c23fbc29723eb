#include "core/synthesis/max_flow.h"

#include <algorithm>

namespace tutti::core::synthesis {

MaxFlow::MaxFlow(int nodes) : leaving_(nodes), level_(nodes, -1), next_(nodes) {}

int MaxFlow::add_node() {
  leaving_.emplace_back();
  level_.push_back(-1);
  next_.push_back(0);
  return static_cast<int>(leaving_.size()) - 1;
}

int MaxFlow::add_arc(int from, int to, std::int64_t capacity) {
  leaving_[from].push_back(static_cast<int>(heads_.size()));
  heads_.push_back(to);
  leaving_[to].push_back(static_cast<int>(heads_.size()));
  heads_.push_back(from);
  capacities_.push_back(capacity);
  return arcs() - 1;
}

std::int64_t MaxFlow::run(int from, int to, std::int64_t limit) {
  room_.resize(heads_.size());
  for (std::size_t arc = 0; arc < capacities_.size(); ++arc) {
    room_[2 * arc] = capacities_[arc];
    room_[2 * arc + 1] = 0;
  }
  std::int64_t sum = 0;
  while (sum < limit && label(from, to)) {
    std::fill(next_.begin(), next_.end(), 0);
    while (const std::int64_t sent = send(from, to, limit - sum)) sum += sent;
  }
  return sum;
}

bool MaxFlow::label(int from, int to) {
  std::fill(level_.begin(), level_.end(), -1);
  level_[from] = 0;
  queue_.assign(1, from);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const int node = queue_[i];
    for (const int half : leaving_[node]) {
      const std::size_t head = heads_[half];
      if (room_[half] == 0 || level_[head] >= 0) continue;
      level_[head] = level_[node] + 1;
      queue_.push_back(static_cast<int>(head));
    }
    if (level_[to] >= 0) return true;
  }
  return false;
}

/// Sends up to `at_most` units from `node` to `to` over arcs that lead one level further from the
/// source. The depth of the recursion is at most the number of nodes.
std::int64_t MaxFlow::send(int node, int to, std::int64_t at_most) {
  if (node == to || at_most == 0) return at_most;
  const std::vector<int>& leaving = leaving_[node];
  std::int64_t sent = 0;
  for (std::size_t& i = next_[node]; i < leaving.size(); ++i) {
    const std::size_t half = leaving[i];
    const int head = heads_[half];
    if (room_[half] == 0 || level_[head] != level_[node] + 1) continue;
    const std::int64_t more = send(head, to, std::min(at_most - sent, room_[half]));
    room_[half] -= more;
    room_[half ^ 1] += more;
    sent += more;
    if (sent == at_most) return sent;
  }
  return sent;
}

}  // namespace tutti::core::synthesis
