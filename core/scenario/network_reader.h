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

/// The maximum number of directed links between switches. Each link takes memory in a simulation.
inline constexpr std::int64_t kMaxSwitchLinks = 16'000'000;

/// Returns the network that a message describes, for these workers. Returns nullopt and adds
/// problems if the network is invalid. `path` is the file of the message, to which a path in its
/// field `link` is relative. Adds the file of `link` to `files`.
std::optional<Network> network_from(const proto::Network& message,
                                    const std::vector<WorkerGroup>& groups, Fields& fields,
                                    const std::string& path, const Library& library,
                                    std::vector<Library::File>& files);

/// Replaces the field `link` of a network by the parameters of the link type, so that the
/// parameters can be changed.
Expected<void> expand_link(proto::Network& message, const std::string& path,
                           const Library& library);

}  // namespace tutti::core
