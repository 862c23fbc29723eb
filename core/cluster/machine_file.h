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

/// The machine that a message describes. Names with ranges are spelled out, every figure is checked, every problem is
/// reported where it stands. Nothing is returned if there was one.
std::shared_ptr<const Machine> machine_from(const proto::Machine& message, const SourceMap& sources,
                                            Problems& problems);

/// The machine in a file (text format or JSON).
Expected<std::shared_ptr<const Machine>> load_machine(const std::string& path);
/// The same for a text that is at hand; `path` is what errors call it.
Expected<std::shared_ptr<const Machine>> read_machine(const std::string& text, const std::string& path);

/// Replaces generation and lanes of its links by the bandwidth that they stand for, so that it can be changed.
void spell_out_rates(proto::Machine& machine);

/// "gpu[0-7]" → gpu0 … gpu7; any other name → itself. Nothing if the range makes no sense ("gpu[3-1]", "gpu[0-", more
/// than 4096 names).
std::optional<std::vector<std::string>> expand_name(const std::string& pattern);

}  // namespace tutti::core
