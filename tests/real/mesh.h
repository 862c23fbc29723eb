#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/strategy/collective.h"
#include "real/join/connection.h"
#include "real/transport/transport.h"

// Helpers for workers that are threads of one process, but connected like processes.

namespace tutti::real {

/// Returns the two ends of a TCP connection over loopback.
std::pair<int, int> connected();

/// Returns the sockets as connections whose keys are all zero. -1 becomes an empty connection.
std::vector<Connection> connections_of(const std::vector<int>& sockets);

/// Returns connections between all workers. sockets[w][v · streams + i] is worker w's end of
/// connection i to worker v.
std::vector<std::vector<int>> mesh(int workers, int streams = 1);

/// Returns the number of connections per pair of workers of a transport, by its name as in
/// transport_named().
int streams_of(const std::string& name);

/// Returns the worker of each rank of the collective.
std::vector<std::int32_t> workers_of(const core::Collective& collective);

/// Creates a transport for `worker` by its name: "tcp", "tcp 3" (with three connections per pair of
/// workers), "tcp codes" (with authentication codes), "tcp tls" (encrypted) or "shm". Waits until
/// the other workers create theirs. If this fails, reports a test failure and returns null.
std::unique_ptr<Transport> transport_named(const std::string& name, std::vector<int> sockets,
                                           std::int32_t worker,
                                           std::vector<std::int32_t> worker_of);

}  // namespace tutti::real
