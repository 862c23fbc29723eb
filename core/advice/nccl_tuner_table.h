#pragma once

#include <string>

#include <tl/expected.hpp>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/tuner_table/table.h"

namespace tutti::core {

/// A table for an NCCL tuner plugin, with a note for the user.
struct NcclTunerTable {
  tuner_table::Table table;
  std::string remark;  ///< one sentence about what the table replaces and requires
};

/// Returns a table that makes NCCL execute the gradients' all-reduces with the algorithm, protocol
/// and channels of `recommended`. For every other collective, the table contains NCCL's default
/// choice of algorithm, protocol and channels for the scenario, with the scenario's tuner. The
/// table replaces NCCL_ALGO, NCCL_PROTO and limits on channels, so NCCL's own choice ignores these
/// variables.
///
/// With `reader` kNvidiaExample, the lines of other collectives match communicators of any size,
/// because NVIDIA's plugin gives one channel to a call that matches no line. libnccl-tuner-tutti.so
/// leaves such calls to NCCL. ERRORS (texts): the reason why no table can be made. REQUIRES: the
/// algorithm of `recommended` is nccl, and its plan has packs. SOURCE: NVIDIA/nccl
/// ext-tuner/example/plugin.c (v2.27.7 to 2.30.7), src/enqueue.cc (getAlgoInfo).
tl::expected<NcclTunerTable, std::string> nccl_tuner_table(const Scenario& recommended,
                                                           const Library& library,
                                                           tuner_table::Reader reader);

}  // namespace tutti::core
