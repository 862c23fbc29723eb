#pragma once

#include <string>

#include <tl/expected.hpp>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/tuner_table/table.h"

namespace tutti::core {

/// The text of a table for an NCCL tuner plugin, with a note for the user.
struct NcclTunerTable {
  tuner_table::Table table;
  std::string remark;  ///< sentences that say which settings the table replaces and what the table
                       ///< requires; they begin with "this table"
};

/// Returns a table that makes NCCL execute the gradients' all-reduces with the algorithm, protocol
/// and channels of `recommended`. For every other collective, the table contains the choice that
/// NCCL (with the scenario's own tuner) would make by default. The table is meant to be used
/// instead of NCCL_ALGO, NCCL_PROTO and the variables that limit channels, so the default choices
/// in the table ignore these variables.
///
/// If `reader` is kNvidiaExample, the lines for other collectives match communicators of all sizes,
/// because NVIDIA's plugin uses one channel for a call that matches no line. A table for
/// libnccl-tuner-tutti.so needs no such lines, because this plugin leaves the choice for unmatched
/// calls to NCCL. ERRORS: a text with the reason why no table can be made. REQUIRES: `recommended`
/// uses the algorithm nccl, and its plan has packs. SOURCE: NVIDIA/nccl ext-tuner/example/plugin.c
/// (v2.27.7 to 2.30.7), src/enqueue.cc (getAlgoInfo).
tl::expected<NcclTunerTable, std::string> nccl_tuner_table(const Scenario& recommended,
                                                           const Library& library,
                                                           tuner_table::Reader reader);

}  // namespace tutti::core
