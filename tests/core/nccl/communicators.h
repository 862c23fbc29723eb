#pragma once

#include <gtest/gtest.h>

#include "core/nccl/lowering/lower.h"
#include "core/nccl/search/uniform_graphs.h"

namespace tutti::test {

/// Returns a system of `nodes` nodes, each with `gpus` Hopper GPUs on NVSwitches. If there are
/// several nodes, each GPU has a network card.
inline core::nccl::System hopper_system(int nodes, int gpus) {
  core::nccl::System s;
  s.generation = core::nccl::GpuGeneration::kHopper;
  s.compute_capability = 90;
  s.nodes = nodes;
  s.gpus = gpus;
  s.inside = gpus == 1 ? core::nccl::Inside::kAlone : core::nccl::Inside::kNvswitch;
  s.nvlinks = 18;
  s.nvlink_gb_per_s = 25;
  s.pcie_gb_per_s = 48;
  s.nics = nodes > 1 ? gpus : 0;
  s.nic_gb_per_s = 50;
  s.transport = nodes > 1 ? core::nccl::Transport::kInfiniband : core::nccl::Transport::kNone;
  return s;
}

inline core::nccl::Communicator communicator(
    const core::nccl::System& system, core::nccl::Version version = core::nccl::kDefaultVersion,
    const core::nccl::Settings& settings = {}) {
  const auto comm = uniform_communicator(system, version, settings);
  EXPECT_TRUE(comm) << (comm ? "" : comm.error().message());
  return with_orders(*comm, {});
}

inline core::nccl::Communicator hopper(int nodes, int gpus,
                                       core::nccl::Version version = core::nccl::kDefaultVersion) {
  return communicator(hopper_system(nodes, gpus), version);
}

}  // namespace tutti::test
