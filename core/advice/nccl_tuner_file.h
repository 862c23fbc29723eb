#pragma once

#include <string>

#include <tl/expected.hpp>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A configuration for NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE).
struct NcclTunerFile {
  std::string text;
  std::string remark;  ///< what to know about it, a sentence
};

/// The file that gives the gradients' all-reduces what `recommended` has, and every other
/// collective what NCCL chooses by itself. It names all five collectives, at all sizes, with their
/// channels: the plugin gives one channel to whatever no line matches. What NCCL chooses by itself
/// is its choice without limits of channels and without NCCL_ALGO and NCCL_PROTO, whatever the present
/// scenario sets: the file takes their place. It is that for the communicator of `recommended`, by the
/// release and the other variables of `recommended`.
/// ERRORS (texts): why there is no such file.
/// REQUIRES: the algorithm of `recommended` is nccl, and it has packs.
/// SOURCE: NVIDIA/nccl ext-tuner/example/plugin.c (v2.27.7 to 2.30.7), src/enqueue.cc
/// (getAlgoInfo).
tl::expected<NcclTunerFile, std::string> nccl_tuner_file(const Scenario& recommended, const Library& library);

}  // namespace tutti::core
