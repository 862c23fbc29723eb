#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/strategy/collective.h"
#include "real/transport/transport.h"

// Workers as threads of one process, connected as processes are.

namespace tutti::real {

/// Two ends of a TCP connection over loopback.
std::pair<int, int> connected();

/// sockets[w][v · streams + i]: worker w's end of connection i to worker v.
std::vector<std::vector<int>> mesh(int workers, int streams = 1);

/// Of a transport of that name, see below.
int streams_of(const std::string& name);

/// By rank of the collective.
std::vector<std::int32_t> workers_of(const core::Collective& collective);

/// The transport of that name ("tcp", "tcp 3" with three connections to each, "shm") for `worker`;
/// null, with a failure of the test, if it can't be had. Waits until the other workers ask for
/// theirs.
std::unique_ptr<Transport> transport_named(const std::string& name, std::vector<int> sockets,
                                           std::int32_t worker,
                                           std::vector<std::int32_t> worker_of);

}  // namespace tutti::real
