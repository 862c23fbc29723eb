#pragma once

#include "core/measured/quality.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// Returns the errors of predicting each experiment by the times of other systems with the same
/// recorded facts (GPUs, links, nodes, cards, network, collective, NCCL_ALGO and NCCL_PROTO). They
/// are a lower bound for the errors of any model that uses only these facts. Times are interpolated
/// between the sizes of the other system. Every pair of an experiment and another system has the
/// same weight.
core::nccl::Errors between_twins(const std::vector<Row>& rows);

}  // namespace tutti::nccl_fit
