#pragma once

#include <string>

#include <tl/expected.hpp>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/tuner_table/table.h"

namespace tutti::core {

/// A table for NCCL's tuner, with what a user should know of it.
struct NcclTunerTable {
  tuner_table::Table table;
  std::string remark;  ///< note in one sentence
};

/// Returns the table that sets the gradients' all-reduces as in `recommended`, and every other
/// collective of its communicators to what NCCL, with the scenario's tuner, chooses without limits
/// on channels and without NCCL_ALGO and NCCL_PROTO, because the table replaces these. All sizes of
/// all five collectives have lines, with their channels. With `reader` kNvidiaExample there are
/// also lines for communicators of any other size, since that plugin gives one channel to whatever
/// no line matches; libnccl-tuner-tutti.so leaves these to NCCL.
/// ERRORS (texts): why there is no such table.
/// REQUIRES: the algorithm of `recommended` is nccl, and it has packs.
/// SOURCE: NVIDIA/nccl ext-tuner/example/plugin.c (v2.27.7 to 2.30.7), src/enqueue.cc
/// (getAlgoInfo).
tl::expected<NcclTunerTable, std::string> nccl_tuner_table(const Scenario& recommended,
                                                           const Library& library,
                                                           tuner_table::Reader reader);

}  // namespace tutti::core
