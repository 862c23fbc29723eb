#pragma once

#include <string>
#include <vector>

#include "core/nccl/communicator.h"
#include "tests/support/json.h"

namespace tutti::test {

/// The cases of tests/reference/nccl/golden-2.28.9.json. Throws if they cannot be read.
std::vector<Data> nccl_cases();
/// The one of that name.
Data nccl_case(const std::string& name);
/// What of it is known before NCCL's tuning; channels are those that it says.
core::nccl::Communicator communicator_of(const Data& one);

}  // namespace tutti::test
