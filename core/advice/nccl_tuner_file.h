#pragma once

#include <string>

#include <tl/expected.hpp>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A configuration for NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE).
struct NcclTunerFile {
  std::string text;
  std::string remark;  ///< a note about it, in one sentence
};

/// Returns the file that sets the gradients' all-reduces as in `recommended`, and every other
/// collective to NCCL's own choice. It lists all five collectives, at all sizes, with their
/// channels, since the plugin gives one channel to whatever no line matches. NCCL's own choice is
/// the one without limits on channels and without NCCL_ALGO and NCCL_PROTO, whatever the current
/// scenario sets, because the file replaces them; it is for the communicator, the release and the
/// other variables of `recommended`.
/// ERRORS (texts): the reason why no such file can be written.
/// REQUIRES: the algorithm of `recommended` is nccl, and it has packs.
/// SOURCE: NVIDIA/nccl ext-tuner/example/plugin.c (v2.27.7 to 2.30.7), src/enqueue.cc
/// (getAlgoInfo).
tl::expected<NcclTunerFile, std::string> nccl_tuner_file(const Scenario& recommended,
                                                         const Library& library);

}  // namespace tutti::core
