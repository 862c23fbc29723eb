#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/network_link.h"
#include "core/scenario/library.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Network;
}

namespace tutti::core {

/// The maximum number of directed links between switches. In a simulation, each link needs memory.
inline constexpr std::int64_t kMaxSwitchLinks = 16'000'000;

/// Builds the network that a message describes for these workers. If the network is invalid, adds
/// problems and returns nullopt. `path` is the file that contains the message; the field `link` may
/// be a path relative to the folder of this file. Adds the file that `link` names to `files`.
std::optional<Network> network_from(const proto::Network& message,
                                    const std::vector<WorkerGroup>& groups, Fields& fields,
                                    const std::string& path, const Library& library,
                                    std::vector<Library::File>& files);

/// Replaces a network's field `link` by the parameters of the link type, so that users can change
/// the parameters.
Expected<void> expand_link(proto::Network& message, const std::string& path,
                           const Library& library);

}  // namespace tutti::core
