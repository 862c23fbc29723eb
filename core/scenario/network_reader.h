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

/// Directed links between switches: each takes some memory in a simulation.
inline constexpr std::int64_t kMaxSwitchLinks = 16'000'000;

/// The network that a message describes for these workers; nothing, and problems, if it makes no
/// sense. `path` is where the message was written: the path of a file that its `link` names, which
/// is added to `files`, starts from there.
std::optional<Network> network_from(const proto::Network& message,
                                    const std::vector<WorkerGroup>& groups, Fields& fields,
                                    const std::string& path, const Library& library,
                                    std::vector<Library::File>& files);

/// Replaces the kind of link that a network names by the figures that it stands for, so that they
/// can be changed.
Expected<void> spell_out_link(proto::Network& message, const std::string& path,
                              const Library& library);

}  // namespace tutti::core
