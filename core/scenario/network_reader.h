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

/// The maximum number of directed links between switches; each needs memory in a simulation.
inline constexpr std::int64_t kMaxSwitchLinks = 16'000'000;

/// Returns the network of a message for these workers; nullopt, with problems, if it is invalid.
/// `path` is the location of the message: a relative path in its `link` starts from there, and the
/// file is added to `files`.
std::optional<Network> network_from(const proto::Network& message,
                                    const std::vector<WorkerGroup>& groups, Fields& fields,
                                    const std::string& path, const Library& library,
                                    std::vector<Library::File>& files);

/// Replaces the kind of link of a network by its parameters, so that they can be changed.
Expected<void> spell_out_link(proto::Network& message, const std::string& path,
                              const Library& library);

}  // namespace tutti::core
