#pragma once

#include <algorithm>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

/// A server with a first-come, first-served queue. Requests must arrive in order of virtual time.
/// The only state of a server is the time at which it becomes free.
class Server {
 public:
  struct Service {
    core::Time start;
    core::Time end;
  };

  Service serve(core::Time now, core::Time duration) {
    const core::Time start = std::max(now, free_);
    free_ = core::later(start, duration);
    return {start, free_};
  }
  /// Makes the server busy until `end`. REQUIRES: the service begins at free_at() or later.
  void occupy_until(core::Time end) { free_ = end; }
  [[nodiscard]] core::Time free_at() const { return free_; }
  void visit_state(StateVisitor& visitor) { visitor.until(free_); }

 private:
  core::Time free_;
};

/// Several identical servers with one queue. Each request is served by the server that becomes free
/// first.
class ServerPool {
 public:
  explicit ServerPool(int servers = 1) : servers_(servers) {}

  Server::Service serve(core::Time now, core::Time duration) {
    auto first = std::min_element(
        servers_.begin(), servers_.end(),
        [](const Server& a, const Server& b) { return a.free_at() < b.free_at(); });
    return first->serve(now, duration);
  }
  /// Returns the number of servers that are busy at `now`.
  [[nodiscard]] int busy(core::Time now) const {
    return static_cast<int>(
        std::count_if(servers_.begin(), servers_.end(),
                      [now](const Server& server) { return server.free_at() > now; }));
  }
  /// Visits the times at which the servers become free, in ascending order. The order of the
  /// servers does not matter, because they are interchangeable.
  void visit_state(StateVisitor& visitor) {
    std::sort(servers_.begin(), servers_.end(),
              [](const Server& a, const Server& b) { return a.free_at() < b.free_at(); });
    for (Server& server : servers_) server.visit_state(visitor);
  }

 private:
  std::vector<Server> servers_;
};

}  // namespace tutti::sim
