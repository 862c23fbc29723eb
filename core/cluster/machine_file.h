#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"

namespace tutti::proto {
class Machine;
}

namespace tutti::core {

class SourceMap;

/// Builds a machine from the parsed Protocol Buffers message of a machine file. Expands names with
/// ranges and checks every value. Adds every problem, with its location, to `problems`. Returns
/// null if there were problems.
std::shared_ptr<const Machine> machine_from(const proto::Machine& message, const SourceMap& sources,
                                            Problems& problems);

/// Reads a machine file (text format or JSON).
Expected<std::shared_ptr<const Machine>> load_machine(const std::string& path);
/// Reads a machine file like load_machine(), but from a text in memory. Error messages use `path`
/// as the name of the text.
Expected<std::shared_ptr<const Machine>> read_machine(const std::string& text,
                                                      const std::string& path);

/// In each link, replaces the fields `generation` and `lanes` by the bandwidth that follows from
/// these fields, so that users can change the bandwidth.
void spell_out_rates(proto::Machine& machine);

/// Expands a name with a range: "gpu[0-7]" becomes gpu0, gpu1, … gpu7. A name without a range is
/// returned unchanged. Returns nullopt if the range is invalid ("gpu[3-1]", "gpu[0-") or has more
/// than 4096 names.
std::optional<std::vector<std::string>> expand_name(const std::string& pattern);

}  // namespace tutti::core
