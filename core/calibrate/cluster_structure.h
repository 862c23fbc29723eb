#pragma once

#include <string>

namespace tutti::proto {
class Cluster;
class Machine;
}  // namespace tutti::proto

namespace tutti::core {

/// Returns the same machine with an explicit entry for every part and every link, in the order in
/// which they are numbered. REQUIRES: the machine is valid.
proto::Machine spelled_out(const proto::Machine& machine);

/// Returns the name that a machine had before its worker got separate parameters: "m" for "m of
/// w2".
std::string shared_name(const std::string& machine);

/// Returns a description of workers, parts and links without parameters, sources and transports,
/// worker by worker. It is equal for two clusters with the same structure. REQUIRES: the machines
/// are in the cluster, and it is valid.
std::string structure_of(const proto::Cluster& cluster);

}  // namespace tutti::core
