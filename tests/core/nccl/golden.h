#pragma once

#include <string>
#include <vector>

#include "core/nccl/communicator.h"
#include "tests/support/json.h"

namespace tutti::test {

/// Returns the cases of tests/reference/nccl/golden-2.28.9.json. Throws if they cannot be read.
std::vector<Data> nccl_cases();
/// Returns the case with this name.
Data nccl_case(const std::string& name);
/// Returns the communicator of a case, with the facts that are known before NCCL's tuning, and the
/// case's number of channels.
core::nccl::Communicator communicator_of(const Data& one);

}  // namespace tutti::test
