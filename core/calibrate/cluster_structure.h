#pragma once

#include <string>

namespace tutti::proto {
class Cluster;
class Machine;
}  // namespace tutti::proto

namespace tutti::core {

/// Returns the same machine without patterns such as "gpu[0-7]": every part and every link has its
/// own entry, and the entries are in the order of their indices.
/// REQUIRES: the machine is valid.
proto::Machine spelled_out(const proto::Machine& machine);

/// Returns the name that a machine had before its worker got separate parameters: "m" for "m of
/// w2".
std::string shared_name(const std::string& machine);

/// Returns a text that lists the workers with their parts and links, without parameters, sources
/// and transports. The text is equal for two clusters with the same structure.
/// REQUIRES: the cluster is valid and contains its machines.
std::string structure_of(const proto::Cluster& cluster);

}  // namespace tutti::core
