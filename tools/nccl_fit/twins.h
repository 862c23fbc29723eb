#pragma once

#include "core/measured/quality.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// Predicts each experiment by the measured times of other systems with the same recorded facts
/// (GPUs, links, nodes, cards, network, collective, NCCL_ALGO and NCCL_PROTO). Returns the errors
/// of these predictions. No model that uses only these facts can have smaller errors. Times are
/// interpolated between the sizes that the other system has measured. Each pair of an experiment
/// and another system has the same weight.
core::nccl::Errors between_twins(const std::vector<Row>& rows);

}  // namespace tutti::nccl_fit
