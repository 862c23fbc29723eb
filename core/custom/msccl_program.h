#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/topology/xml_text.h"
#include "core/schedule/contract.h"
#include "core/schedule/step.h"

namespace tutti::core::custom {

/// A step of the file. The ranges of `step` are in units of chunks. `input_source` and
/// `input_target` are true if the source or the target, respectively, is in the input buffer.
struct MscclStep {
  Step step;
  bool input_source = false;
  bool input_target = false;
  Location place;
};

struct MscclBlock {
  std::int64_t id = 0;
  std::int32_t send = -1;
  std::int32_t receive = -1;
  std::int64_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  std::int64_t scratch = 0;
  std::vector<MscclBlock> blocks;
};

struct MscclProgram {
  std::string name;
  std::string file;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string protocol;
  bool in_place = false;
  std::int64_t chunks = 1;
  std::vector<MscclGpu> gpus;
};

/// Reads the program of a file. Adds problems and returns null if the file has no valid program.
std::shared_ptr<const MscclProgram> read_msccl_program(const nccl::XmlText& xml,
                                                       const std::string& file, Problems& problems);

}  // namespace tutti::core::custom
