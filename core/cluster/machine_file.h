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

/// Builds the machine that a message describes. Expands names with ranges, checks every value and
/// reports each problem at its location. Returns null if there was one.
std::shared_ptr<const Machine> machine_from(const proto::Machine& message, const SourceMap& sources,
                                            Problems& problems);

/// Reads a machine file (text format or JSON).
Expected<std::shared_ptr<const Machine>> load_machine(const std::string& path);
/// Like load_machine(), for a text in memory; errors call it `path`.
Expected<std::shared_ptr<const Machine>> read_machine(const std::string& text,
                                                      const std::string& path);

/// Replaces the generation and lanes of the machine's links by the bandwidth that they stand for,
/// so that it can be changed.
void spell_out_rates(proto::Machine& machine);

/// Expands a name with a range: "gpu[0-7]" → gpu0 … gpu7; any other name → itself. Returns nullopt
/// if the range is invalid ("gpu[3-1]", "gpu[0-", more than 4096 names).
std::optional<std::vector<std::string>> expand_name(const std::string& pattern);

}  // namespace tutti::core
