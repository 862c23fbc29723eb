#pragma once

#include <string>

namespace tutti::proto {
class Cluster;
class Machine;
}  // namespace tutti::proto

namespace tutti::core {

/// The same machine with an entry for every part and every link, in the order in which they are
/// numbered. REQUIRES: it has no problems.
proto::Machine spelled_out(const proto::Machine& machine);

/// What a machine was called before its worker got figures of its own: "m" of "m of w2".
std::string shared_name(const std::string& machine);

/// Workers, parts and links without figures, sources and transports, worker by worker: alike for
/// two clusters that are joined the same way. REQUIRES: the machines are in the cluster, which has
/// no problems.
std::string structure_of(const proto::Cluster& cluster);

}  // namespace tutti::core
