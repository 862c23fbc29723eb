#pragma once

// The machines, links and models that come with Tutti, read from the source folder.

#include <memory>
#include <string>

#include "core/cluster/machine.h"
#include "core/scenario/library.h"

namespace tutti::test {

const core::Library& shipped_library();

/// Returns the machine with this name. Fails the test and returns null if there is none.
std::shared_ptr<const core::Machine> shipped_machine(const std::string& name);

}  // namespace tutti::test
