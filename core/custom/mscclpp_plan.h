#pragma once

// An MSCCL++ execution plan as its JSON describes it. All references to channels and remote buffers
// are resolved.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/contract.h"
#include "core/schedule/step.h"
#include "core/text/document.h"

namespace tutti::core::custom {

/// The kind of an operation. A fused operation of the format (pws, pwsf, res, rres, …) is
/// represented by one of these kinds with flags in PlanOp.
enum class PlanVerb : std::uint8_t {
  kNop,
  kBarrier,
  kSignal,
  kWait,
  kFlush,
  kPut,          ///< writes to the memory of other ranks; packets (`packets_out`) need no separate
                 ///< signal
  kGet,          ///< reads the memory of other ranks
  kCopy,         ///< copies inside the rank
  kReduce,       ///< adds sources, which may be on other ranks, and may also send the sum
  kStore,        ///< multicasts through a switch
  kReduceStore,  ///< reduces in a switch and multicasts the result
  kAcquire,
  kRelease,
  kPipeline,
};

enum class PlanMemory : std::uint8_t { kInput, kOutput, kScratch };

/// Chunks `index` … `index + size - 1` of a buffer.
struct PlanPlace {
  PlanMemory memory = PlanMemory::kInput;
  Rank rank = -1;    ///< rank that has the buffer; -1: the rank of the operation, or the group of
                     ///< `channel`
  int channel = -1;  ///< the switch channel, as an index into PlanGpu::switches; -1: none
  std::int64_t index = 0;
  std::int64_t size = 0;
};

struct PlanOp {
  PlanVerb verb = PlanVerb::kNop;
  Position at;
  bool relaxed = false;       ///< true: the operation does not order accesses to memory (kSignal,
                              ///< kWait)
  bool port = false;          ///< true: the operation uses a port channel (a proxy); false: it uses
                              ///< loads and stores
  bool packets_in = false;    ///< true: the operation waits for packets in its sources
  bool packets_out = false;   ///< true: the operation writes packets
  bool signals = false;       ///< only for kPut; true: a signal on the same channels follows
  bool flushes = false;       ///< only for kPut; true: a flush of the same channels follows
  bool fused = false;         ///< set by Tutti's export; true: the send belongs to the previous
                              ///< step
  std::vector<int> channels;  ///< indices into PlanGpu::memory_channels or port_channels
  std::vector<PlanPlace> source;
  std::vector<PlanPlace> target;
  std::int32_t part = 0;  ///< index of the part of each place that this operation handles; each
                          ///< place has `parts` parts
  std::int32_t parts = 1;
  int barrier = 0;
  int barrier_blocks = 0;
  std::vector<int> semaphores;
  std::int64_t unit_bytes = 0;  ///< only for kPipeline: number of bytes per round
  std::int64_t chunks = 0;      ///< only for kPipeline: number of chunks of all rounds together
  std::vector<PlanOp> body;
};

/// One end of a channel between two ranks.
struct PlanChannel {
  Rank peer = -1;
  int other_end = -1;  ///< index of the channel at the peer; -1: the peer does not declare the
                       ///< channel
};

struct PlanSwitch {
  PlanMemory memory = PlanMemory::kInput;
  RankSet group;
};

struct PlanGpu {
  std::int64_t scratch = 0;
  std::vector<PlanChannel> memory_channels;
  std::vector<PlanChannel> port_channels;
  std::vector<PlanSwitch> switches;
  std::vector<std::int64_t> semaphores;  ///< initial values of the semaphores
  std::vector<std::vector<PlanOp>> blocks;
};

struct Plan {
  std::string name;
  std::string file;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool in_place = false;
  bool packets = false;
  bool reuses_scratch = false;
  bool begins_with_handshake = false;  ///< set by Tutti's export: the plan begins with signals that
                                       ///< separate launches
  std::int64_t chunks = 1;             ///< number of chunks of the whole buffer
  std::vector<PlanGpu> gpus;
  bool has_pipelines = false;
  /// The maximum number of rounds of a pipeline. A message that would need more rounds uses rounds
  /// of more than PlanOp::unit_bytes bytes.
  std::int64_t max_rounds = 1024;
};

/// Reads a plan. Returns null and adds problems, with their locations, if the text is not a plan or
/// uses features that Tutti does not support.
std::shared_ptr<const Plan> read_plan(std::string_view text, const std::string& file,
                                      Problems& problems);

}  // namespace tutti::core::custom
