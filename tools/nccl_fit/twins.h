#pragma once

#include "core/measured/quality.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// No model at all: how far a table lies from that of another system whose record says the same
/// (GPUs, links, nodes, cards, network, collective, NCCL_ALGO and NCCL_PROTO), where there is one.
/// Nobody who goes by such records can expect to be nearer. Sizes between two of the other table
/// are interpolated; every pair of an experiment and a system weighs the same.
core::nccl::Errors between_twins(const std::vector<Row>& rows);

}  // namespace tutti::nccl_fit
