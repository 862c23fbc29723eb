#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/lowering/lower.h"
#include "core/schedule/checker.h"

namespace tutti::core::nccl {

/// Lowers a collective, and proves by symbolic execution that the schedule implements it.
inline void prove(const Communicator& comm, const LoweringRequest& request) {
  const auto schedule = lower(comm, request);
  ASSERT_TRUE(schedule) << schedule.error().message();
  const Contract contract = Contract::of(request.kind, comm.ranks, request.elements, request.root,
                                         !can_be_in_place(request.kind));
  EXPECT_EQ(check(**schedule, contract), std::vector<Violation>())
      << comm.nodes << " nodes, " << comm.ranks << " ranks, NCCL " << to_string(comm.version)
      << ", " << to_string(request.kind) << " of " << request.elements << " by "
      << to_string(request.choice.algorithm) << " " << to_string(request.choice.protocol) << " for "
      << request.planned;
}

}  // namespace tutti::core::nccl
